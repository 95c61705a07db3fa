/* sha256.c - SHA-256 as FIPS 180-4 defines it. The message schedule is a ring of 16 words, so the stack stays small. */
#include "cab_core.h"

#include <string.h>

static const uint32_t k[64] = {
    0x428a2f98u, 0x71374491u, 0xb5c0fbcfu, 0xe9b5dba5u, 0x3956c25bu, 0x59f111f1u, 0x923f82a4u, 0xab1c5ed5u,
    0xd807aa98u, 0x12835b01u, 0x243185beu, 0x550c7dc3u, 0x72be5d74u, 0x80deb1feu, 0x9bdc06a7u, 0xc19bf174u,
    0xe49b69c1u, 0xefbe4786u, 0x0fc19dc6u, 0x240ca1ccu, 0x2de92c6fu, 0x4a7484aau, 0x5cb0a9dcu, 0x76f988dau,
    0x983e5152u, 0xa831c66du, 0xb00327c8u, 0xbf597fc7u, 0xc6e00bf3u, 0xd5a79147u, 0x06ca6351u, 0x14292967u,
    0x27b70a85u, 0x2e1b2138u, 0x4d2c6dfcu, 0x53380d13u, 0x650a7354u, 0x766a0abbu, 0x81c2c92eu, 0x92722c85u,
    0xa2bfe8a1u, 0xa81a664bu, 0xc24b8b70u, 0xc76c51a3u, 0xd192e819u, 0xd6990624u, 0xf40e3585u, 0x106aa070u,
    0x19a4c116u, 0x1e376c08u, 0x2748774cu, 0x34b0bcb5u, 0x391c0cb3u, 0x4ed8aa4au, 0x5b9cca4fu, 0x682e6ff3u,
    0x748f82eeu, 0x78a5636fu, 0x84c87814u, 0x8cc70208u, 0x90befffau, 0xa4506cebu, 0xbef9a3f7u, 0xc67178f2u,
};

static uint32_t rotr(uint32_t x, unsigned n)
{
    return x >> n | x << (32u - n);
}

/* FIPS 180-4, 6.2.2. */
static void compress(uint32_t hash[8], const uint8_t *block)
{
    uint32_t w[16];
    uint32_t a = hash[0], b = hash[1], c = hash[2], d = hash[3], e = hash[4], f = hash[5], g = hash[6], h = hash[7];

    for (unsigned t = 0; t < 16; t++, block += 4)
        w[t] = (uint32_t)block[0] << 24 | (uint32_t)block[1] << 16 | (uint32_t)block[2] << 8 | block[3];

    for (unsigned t = 0; t < 64; t++) {
        if (t >= 16) {
            const uint32_t near = w[(t - 15u) & 15u], far = w[(t - 2u) & 15u];
            w[t & 15u] += (rotr(near, 7) ^ rotr(near, 18) ^ near >> 3) + w[(t - 7u) & 15u] +
                          (rotr(far, 17) ^ rotr(far, 19) ^ far >> 10);
        }
        const uint32_t t1 = h + (rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25)) + ((e & f) ^ (~e & g)) + k[t] + w[t & 15u];
        const uint32_t t2 = (rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        h = g;
        g = f;
        f = e;
        e = d + t1;
        d = c;
        c = b;
        b = a;
        a = t1 + t2;
    }
    hash[0] += a;
    hash[1] += b;
    hash[2] += c;
    hash[3] += d;
    hash[4] += e;
    hash[5] += f;
    hash[6] += g;
    hash[7] += h;
}

void cab_sha256_init(cab_sha256_t *sha)
{
    static const uint32_t initial[8] = {
        0x6a09e667u, 0xbb67ae85u, 0x3c6ef372u, 0xa54ff53au, 0x510e527fu, 0x9b05688cu, 0x1f83d9abu, 0x5be0cd19u,
    };
    memcpy(sha->hash, initial, sizeof initial);
    sha->length = 0;
}

void cab_sha256_update(cab_sha256_t *sha, const uint8_t *data, size_t length)
{
    size_t held = (size_t)(sha->length & 63u);

    sha->length += length;
    if (held) {
        size_t take = 64 - held;
        if (take > length)
            take = length;
        for (size_t i = 0; i < take; i++) /* not memcpy: data may be NULL when length is 0 */
            sha->block[held + i] = data[i];
        if (held + take < 64)
            return;
        compress(sha->hash, sha->block);
        data += take;
        length -= take;
    }
    for (; length >= 64; data += 64, length -= 64)
        compress(sha->hash, data);
    for (size_t i = 0; i < length; i++)
        sha->block[i] = data[i];
}

void cab_sha256_final(cab_sha256_t *sha, uint8_t digest[CAB_SHA256_BYTES])
{
    static const uint8_t padding[64] = {0x80};
    const uint64_t bits = sha->length << 3;
    const size_t held = (size_t)(sha->length & 63u);
    uint8_t tail[8];

    for (unsigned i = 0; i < 8; i++)
        tail[i] = (uint8_t)(bits >> (56u - 8u * i));
    cab_sha256_update(sha, padding, held < 56 ? 56 - held : 120 - held);
    cab_sha256_update(sha, tail, sizeof tail);
    for (unsigned i = 0; i < CAB_SHA256_BYTES; i++)
        digest[i] = (uint8_t)(sha->hash[i / 4] >> (24u - 8u * (i & 3u)));
}

void cab_sha256(const uint8_t *data, size_t length, uint8_t digest[CAB_SHA256_BYTES])
{
    cab_sha256_t sha;
    cab_sha256_init(&sha);
    cab_sha256_update(&sha, data, length);
    cab_sha256_final(&sha, digest);
}
