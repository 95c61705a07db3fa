/* p256.c - ECDSA on NIST P-256, by BearSSL: no heap, and 11 KiB of code. Shows what native/cpython/p256.py shows. */
#include "objects.h"

#include "bearssl_ec.h"

enum { KEY_BYTES = 65, DIGEST_BYTES = 32, SIGNATURE_BYTES = 64 };

/* p256_verify(key, digest, signature): bool; ValueError for a length that is none of these. */
static mp_obj_t core_p256_verify(mp_obj_t key_in, mp_obj_t digest_in, mp_obj_t signature_in)
{
    const mp_buffer_info_t key = cabinet_bytes(key_in), digest = cabinet_bytes(digest_in);
    const mp_buffer_info_t signature = cabinet_bytes(signature_in);

    if (key.len != KEY_BYTES || digest.len != DIGEST_BYTES || signature.len != SIGNATURE_BYTES)
        mp_raise_ValueError(MP_ERROR_TEXT("p256_verify takes 65, 32 and 64 bytes"));
    const br_ec_public_key public_key = {.curve = BR_EC_secp256r1, .q = key.buf, .qlen = key.len};
    return mp_obj_new_bool(
        br_ecdsa_i31_vrfy_raw(&br_ec_p256_m31, digest.buf, digest.len, &public_key, signature.buf, signature.len));
}
MP_DEFINE_CONST_FUN_OBJ_3(cabinet_p256_verify_obj, core_p256_verify);
