/* hmac.c - HMAC with SHA-256 as FIPS 198-1 defines it. */
#include "cab_core.h"

#define BLOCK_BYTES 64

void cab_hmac_init(cab_hmac_t *hmac, const uint8_t *key, size_t length)
{
    uint8_t block[BLOCK_BYTES] = {0};

    if (length > BLOCK_BYTES)
        cab_sha256(key, length, block);
    else
        for (size_t i = 0; i < length; i++) /* not memcpy: key may be NULL when length is 0 */
            block[i] = key[i];
    for (unsigned i = 0; i < BLOCK_BYTES; i++)
        block[i] ^= 0x36;
    cab_sha256_init(&hmac->inner);
    cab_sha256_update(&hmac->inner, block, BLOCK_BYTES);
    for (unsigned i = 0; i < BLOCK_BYTES; i++)
        block[i] ^= 0x36 ^ 0x5c;
    cab_sha256_init(&hmac->outer);
    cab_sha256_update(&hmac->outer, block, BLOCK_BYTES);
}

void cab_hmac_update(cab_hmac_t *hmac, const uint8_t *data, size_t length)
{
    cab_sha256_update(&hmac->inner, data, length);
}

void cab_hmac_final(cab_hmac_t *hmac, uint8_t code[CAB_SHA256_BYTES])
{
    cab_sha256_final(&hmac->inner, code);
    cab_sha256_update(&hmac->outer, code, CAB_SHA256_BYTES);
    cab_sha256_final(&hmac->outer, code);
}
