#!/usr/bin/env bash
# Builds secp256k1.wasm from secp256k1.c and Bitcoin Core's libsecp256k1, as Debian's archive has it.
#
#     src/curve/secp256k1.sh            builds the file
#     src/curve/secp256k1.sh --check    builds it elsewhere, and compares
#
# It needs clang and wasm-ld 14 of Debian 12 (packages `clang` and `lld`): another version gives
# other bytes. Exit 1 when the bytes differ, and 2 without the compiler or the source.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

version=0.5.0
hash=13b70138be52d7a23bdf0ea39ed79799a30eb855f2ed82c028357f6432cd536b
# The hash of the binary, which a test compares.
binary=f727d524447ff08b26301e9b21b6316dc6db4b3e51be4d7538a9c5c0975c8993
# The package archive of this machine.
archive=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' | grep debian | grep -v security | head -n 1)
source=$folder/source.tar.xz
type -P clang wasm-ld > /dev/null || exit 2
curl --fail --silent --show-error --location --max-time 120 --output "$source" \
  "$archive/pool/main/libs/libsecp256k1/libsecp256k1_$version.orig.tar.xz" || exit 2
echo "$hash  $source" | sha256sum --check --quiet
tar --extract --file "$source" --directory "$folder"
library=$folder/libsecp256k1-$version

# A module of WebAssembly has no C library. What the code needs of one is in secp256k1.c.
mkdir "$folder/headers"
touch "$folder"/headers/{string,stdlib,stdio}.h

# - The 32-bit limbs: WebAssembly has no product of 64 bits with a result of 128.
# - A table of 22 KB for products of the generator, and of 8 KB for public products.
# - Vector instructions, which the sums of the vector OLE use, and other modules here too.
# - A stack at the beginning of the memory, whose size secp256k1.ts knows.
clang --target=wasm32 -std=c99 -O3 -ffreestanding -nostdlib -mbulk-memory -msimd128 -Wall -Werror -Wno-unused-function \
  -DUSE_FORCE_WIDEMUL_INT64=1 -DECMULT_WINDOW_SIZE=8 -DCOMB_BLOCKS=11 -DCOMB_TEETH=6 \
  -I "$folder/headers" -I "$library/src" -I "$library/include" \
  -Wl,--no-entry -Wl,--gc-sections -Wl,--strip-all -Wl,--stack-first -Wl,-z,stack-size=8192 \
  -o "$folder/secp256k1.wasm" "$here/secp256k1.c"

if [ "${1:-}" = --check ]; then cmp "$folder/secp256k1.wasm" "$here/secp256k1.wasm"
else install -m 644 "$folder/secp256k1.wasm" "$here/secp256k1.wasm"; fi
echo "$binary  $here/secp256k1.wasm" | sha256sum --check
