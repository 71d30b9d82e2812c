;; SHA-256 (FIPS 180-4) of a 64-byte prefix and one block after it, four messages at once: each lane of a vector is one of them.
;; one-block-sha256.ts says why it is here and how it is called; `npm run wasm` makes the binary of it, and a test holds the two together.
;;
;; The memory, in bytes:
;;      0  the 64 constants of section 4.2.2, a word each
;;    256  the initial hash value of section 5.3.3, 8 words
;;    288  the state after the prefix, 8 words
;;    512  the message schedule: W_0 to W_63, a vector each
;;   1536  the digests of four messages: 8 vectors
;;   2048  what comes in, in words
;;  16384  what goes out, in words
;;
;; No branch and no address depends on what is hashed. Words are numbers here: who reads or writes bytes minds their order.
(module
  (memory (export "memory") 2 2)

  ;; ROTR^n(x), section 3.2.
  (func $rotr (param $x v128) (param $n i32) (result v128)
    (v128.or
      (i32x4.shr_u (local.get $x) (local.get $n))
      (i32x4.shl (local.get $x) (i32.sub (i32.const 32) (local.get $n)))))

  ;; Section 4.1.2: the two Sigmas of a round (4.4 and 4.5) and the two sigmas of the schedule (4.6 and 4.7).
  (func $Sigma0 (param $x v128) (result v128)
    (v128.xor
      (v128.xor (call $rotr (local.get $x) (i32.const 2)) (call $rotr (local.get $x) (i32.const 13)))
      (call $rotr (local.get $x) (i32.const 22))))

  (func $Sigma1 (param $x v128) (result v128)
    (v128.xor
      (v128.xor (call $rotr (local.get $x) (i32.const 6)) (call $rotr (local.get $x) (i32.const 11)))
      (call $rotr (local.get $x) (i32.const 25))))

  (func $sigma0 (param $x v128) (result v128)
    (v128.xor
      (v128.xor (call $rotr (local.get $x) (i32.const 7)) (call $rotr (local.get $x) (i32.const 18)))
      (i32x4.shr_u (local.get $x) (i32.const 3))))

  (func $sigma1 (param $x v128) (result v128)
    (v128.xor
      (v128.xor (call $rotr (local.get $x) (i32.const 17)) (call $rotr (local.get $x) (i32.const 19)))
      (i32x4.shr_u (local.get $x) (i32.const 10))))

  ;; The hash computation of section 6.2.2 for W_0 to W_15 as they stand in the schedule, from the state at $before on.
  (func $compress (param $before i32)
    (local $t i32) (local $T1 v128)
    (local $a v128) (local $b v128) (local $c v128) (local $d v128)
    (local $e v128) (local $f v128) (local $g v128) (local $h v128)

    ;; Step 1: W_t = sigma1(W_t-2) + W_t-7 + sigma0(W_t-15) + W_t-16, for t from 16 to 63. Here $t counts the bytes from W_16.
    (loop $schedule
      (v128.store offset=768 (local.get $t)
        (i32x4.add
          (i32x4.add
            (call $sigma1 (v128.load offset=736 (local.get $t)))
            (v128.load offset=656 (local.get $t)))
          (i32x4.add
            (call $sigma0 (v128.load offset=528 (local.get $t)))
            (v128.load offset=512 (local.get $t)))))
      (local.set $t (i32.add (local.get $t) (i32.const 16)))
      (br_if $schedule (i32.lt_u (local.get $t) (i32.const 768))))

    ;; Step 2: the working variables.
    (local.set $a (v128.load32_splat offset=0 (local.get $before)))
    (local.set $b (v128.load32_splat offset=4 (local.get $before)))
    (local.set $c (v128.load32_splat offset=8 (local.get $before)))
    (local.set $d (v128.load32_splat offset=12 (local.get $before)))
    (local.set $e (v128.load32_splat offset=16 (local.get $before)))
    (local.set $f (v128.load32_splat offset=20 (local.get $before)))
    (local.set $g (v128.load32_splat offset=24 (local.get $before)))
    (local.set $h (v128.load32_splat offset=28 (local.get $before)))

    ;; Step 3: 64 rounds. Here $t counts the bytes of the constants; a vector of the schedule is four times as long.
    (local.set $t (i32.const 0))
    (loop $round
      ;; T1 = h + Sigma1(e) + Ch(e, f, g) + K_t + W_t, where Ch is g ^ (e & (f ^ g)).
      (local.set $T1
        (i32x4.add
          (i32x4.add
            (i32x4.add (local.get $h) (call $Sigma1 (local.get $e)))
            (v128.xor
              (local.get $g)
              (v128.and (local.get $e) (v128.xor (local.get $f) (local.get $g)))))
          (i32x4.add
            (v128.load32_splat (local.get $t))
            (v128.load offset=512 (i32.shl (local.get $t) (i32.const 2))))))
      (local.set $h (local.get $g))
      (local.set $g (local.get $f))
      (local.set $f (local.get $e))
      (local.set $e (i32x4.add (local.get $d) (local.get $T1)))
      ;; T1 + T2, where T2 = Sigma0(a) + Maj(a, b, c), and Maj is (a & b) | (c & (a | b)).
      (local.set $T1
        (i32x4.add
          (i32x4.add (local.get $T1) (call $Sigma0 (local.get $a)))
          (v128.or
            (v128.and (local.get $a) (local.get $b))
            (v128.and (local.get $c) (v128.or (local.get $a) (local.get $b))))))
      (local.set $d (local.get $c))
      (local.set $c (local.get $b))
      (local.set $b (local.get $a))
      (local.set $a (local.get $T1))
      (local.set $t (i32.add (local.get $t) (i32.const 4)))
      (br_if $round (i32.lt_u (local.get $t) (i32.const 256))))

    ;; Step 4: the next state.
    (v128.store (i32.const 1536) (i32x4.add (local.get $a) (v128.load32_splat offset=0 (local.get $before))))
    (v128.store (i32.const 1552) (i32x4.add (local.get $b) (v128.load32_splat offset=4 (local.get $before))))
    (v128.store (i32.const 1568) (i32x4.add (local.get $c) (v128.load32_splat offset=8 (local.get $before))))
    (v128.store (i32.const 1584) (i32x4.add (local.get $d) (v128.load32_splat offset=12 (local.get $before))))
    (v128.store (i32.const 1600) (i32x4.add (local.get $e) (v128.load32_splat offset=16 (local.get $before))))
    (v128.store (i32.const 1616) (i32x4.add (local.get $f) (v128.load32_splat offset=20 (local.get $before))))
    (v128.store (i32.const 1632) (i32x4.add (local.get $g) (v128.load32_splat offset=24 (local.get $before))))
    (v128.store (i32.const 1648) (i32x4.add (local.get $h) (v128.load32_splat offset=28 (local.get $before)))))

  ;; The 16 words at 2048 as the prefix: its state goes to 288. All four lanes do the same.
  (func (export "absorbPrefix")
    (local $i i32)
    (loop $word
      (v128.store offset=512
        (i32.shl (local.get $i) (i32.const 2))
        (v128.load32_splat offset=2048 (local.get $i)))
      (local.set $i (i32.add (local.get $i) (i32.const 4)))
      (br_if $word (i32.lt_u (local.get $i) (i32.const 64))))
    (call $compress (i32.const 256))
    (local.set $i (i32.const 0))
    (loop $state
      (i32.store offset=288
        (local.get $i)
        (i32.load offset=1536 (i32.shl (local.get $i) (i32.const 2))))
      (local.set $i (i32.add (local.get $i) (i32.const 4)))
      (br_if $state (i32.lt_u (local.get $i) (i32.const 32)))))

  ;; Of $count data of $words words each at 2048: four digests of each to 16384, one after the other. The caller has seen to it that a datum
  ;; has 1 to 12 words, and that what comes in and what goes out have room: at most 3,584 words, at most 896 data, and one at least.
  ;; Datum i, digest k: SHA-256(prefix || (i << 8 | k) || datum).
  (func (export "digest") (param $words i32) (param $count i32)
    (local $i i32) (local $word i32) (local $end i32) (local $in i32) (local $out i32)
    (local.set $in (i32.const 2048))
    (local.set $out (i32.const 16384))

    ;; Section 5.1.1, the same for all: a bit 1 after the datum, zeros, and the length of prefix, index and datum in bits.
    (local.set $end (i32.shl (local.get $words) (i32.const 4)))
    (v128.store offset=528 (local.get $end) (i32x4.splat (i32.const 0x80000000)))
    (local.set $word (local.get $end))
    (loop $zero
      (local.set $word (i32.add (local.get $word) (i32.const 16)))
      (v128.store offset=528 (local.get $word) (v128.const i32x4 0 0 0 0))
      (br_if $zero (i32.lt_u (local.get $word) (i32.const 208))))
    (v128.store (i32.const 752)
      (i32x4.splat (i32.mul (i32.add (i32.const 17) (local.get $words)) (i32.const 32))))

    (loop $datum
      (v128.store (i32.const 512)
        (v128.or (i32x4.splat (i32.shl (local.get $i) (i32.const 8))) (v128.const i32x4 0 1 2 3)))
      (local.set $word (i32.const 0))
      (loop $fill
        (v128.store offset=528 (local.get $word) (v128.load32_splat (local.get $in)))
        (local.set $in (i32.add (local.get $in) (i32.const 4)))
        (local.set $word (i32.add (local.get $word) (i32.const 16)))
        (br_if $fill (i32.lt_u (local.get $word) (local.get $end))))
      (call $compress (i32.const 288))

      ;; Lane k of the eight vectors is digest k.
      (local.set $word (i32.const 0))
      (loop $lane
        (i32.store offset=0 (i32.add (local.get $out) (local.get $word)) (i32.load offset=1536 (i32.shl (local.get $word) (i32.const 2))))
        (i32.store offset=32 (i32.add (local.get $out) (local.get $word)) (i32.load offset=1540 (i32.shl (local.get $word) (i32.const 2))))
        (i32.store offset=64 (i32.add (local.get $out) (local.get $word)) (i32.load offset=1544 (i32.shl (local.get $word) (i32.const 2))))
        (i32.store offset=96 (i32.add (local.get $out) (local.get $word)) (i32.load offset=1548 (i32.shl (local.get $word) (i32.const 2))))
        (local.set $word (i32.add (local.get $word) (i32.const 4)))
        (br_if $lane (i32.lt_u (local.get $word) (i32.const 32))))
      (local.set $out (i32.add (local.get $out) (i32.const 128)))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $datum (i32.lt_u (local.get $i) (local.get $count))))))
