;; The one loop of the products in GF(2^208) that takes time; gf208.ts says what it is for and calls it.
;;
;; The memory, in bytes:
;;      0  the product before it is reduced: 416 coefficients, a vector each
;;   8192  the factor: 208 coefficients, a vector each
;;
;; The shift is public. No branch and no address depends on what is in the vectors.
(module
  (memory (export "memory") 1 1)

  ;; product += factor * X^shift, for a shift of 0 to 207; in GF(2) a sum is an exclusive or.
  (func (export "addShifted") (param $shift i32)
    (local $at i32) (local $to i32)
    (local.set $to (i32.shl (local.get $shift) (i32.const 4)))
    (loop $coefficient
      (v128.store (local.get $to)
        (v128.xor (v128.load (local.get $to)) (v128.load offset=8192 (local.get $at))))
      (local.set $to (i32.add (local.get $to) (i32.const 16)))
      (local.set $at (i32.add (local.get $at) (i32.const 16)))
      (br_if $coefficient (i32.lt_u (local.get $at) (i32.const 3328))))))
