/** Secrets in recorded bodies: names, forms and encodings in which they are found. */

import { brotliCompressSync, deflateRawSync, deflateSync, gunzipSync, gzipSync,
  zstdCompressSync } from 'node:zlib'

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { byteHider } from '../../../../src/graph/recording/hidden-bytes.ts'
import { recordedUrl } from '../../../../src/graph/recording/recorded-url.ts'
import { redactedAnswer, redactedRequest } from '../../../../src/graph/recording/redacted-body.ts'
import { RunSecrets } from '../../../../src/graph/recording/run-secrets.ts'
import { redactedIdentity } from '../../../../src/graph/replay/compared-request.ts'
import { standIns } from '../../../../src/graph/replay/stand-ins.ts'

const hide = byteHider({ SHOP_SECRET: 'open sesame/42+é"' })
const known = 'open sesame/42+é"'
const hidden = (text: string) =>
  Buffer.from(hide(Buffer.from(text).toString('latin1')), 'latin1').toString()
const stars = (length: number) => '*'.repeat(length)

describe('names of credentials', () => {
  it.each(['access_token', 'refreshToken', 'id_token', 'client_secret', 'clientSecret', 'password',
    'api_key', 'x-api-key', 'authorization', 'SessionToken', 'SecretAccessKey', 'private_key',
    'botToken', 'client_assertion', 'code_verifier', 'Set-Cookie', 'db.password'])(
      'hides the value of %s in JSON, quoted JSON, forms and XML',
      (name) => {
        const object = { a: 1, [name]: 'a"b\\c-D9', z: 'end' }
        const json = JSON.stringify(object)
        expect(JSON.parse(hidden(json))).toEqual({ ...object, [name]: stars(10) })
        const quoted = JSON.stringify({ arguments: JSON.stringify({ deep: json }) })
        const outer = JSON.parse(hidden(quoted)) as { readonly arguments: string }
        const { deep } = JSON.parse(outer.arguments) as { readonly deep: string }
        const inner = JSON.parse(deep) as Readonly<Record<string, string>>
        expect(inner).toMatchObject({ a: 1, z: 'end' })
        expect(inner[name]).toMatch(/^\*+$/)
        expect(hidden(`a=1&${name}=word&z=end`)).toBe('a=1&' + name + '=****&z=end')
        expect(hidden(`<a><${name}>word</${name}></a>`)).toBe(`<a><${name}>****</${name}></a>`)
      },
    )

  it('hides lists, pairs of name and value, and fields of multipart bodies', () => {
    expect(hidden('{"cookie": ["a=1", "b=2"], "z": 1}')).toBe('{"cookie": ["***", "***"], "z": 1}')
    expect(hidden('{"name":"api-key","value":"word"}')).toBe('{"name":"api-key","value":"****"}')
    expect(hidden('["x-api-key","abcdef-12345"]')).toBe('["x-api-key","************"]')
    const field = '--b\r\nContent-Disposition: form-data; name="password"\r\n\r\nword\r\n--b--'
    expect(hidden(field)).toBe(field.replace('\r\nword', '\r\n****'))
  })

  it('hides an authorization code in a request for a token only', () => {
    expect(hidden('grant_type=authorization_code&code=word')).toBe(
      'grant_type=authorization_code&code=****',
    )
    expect(hidden('{"code":"not_found"}')).toBe('{"code":"not_found"}')
  })

  it.each([
    '{"max_tokens": 9, "token": " international", "nextPageToken": "abc-12345678"}',
    '{"eos_token": "</s>", "access_token": null, "password": {"type": "string"}}',
    '{"required": ["access_token", "refresh_token"], "barcode": "4006381333931"}',
    'const token = getToken(request); the password: it is',
    '{"token": "Tokenization", "unicode": "U+1F600", "code": 200}',
  ])('keeps the text %s', (text) => {
    expect(hidden(text)).toBe(text)
  })
})

describe('forms of credentials', () => {
  const jwt = `${Buffer.from('{"alg":"HS256"}').toString('base64url')}.eyJzdWIiOiIxIn0.c2ln-_x`
  it.each([`see ${jwt}, please`, `{"a":"x${jwt}"}`, `%22${jwt}%22`, `/files/${jwt}/meta`])(
    'hides a JWT in %s',
    (text) => {
      expect(hidden(text)).toBe(text.replace(jwt, stars(jwt.length)))
    },
  )

  it('hides a private key and a key of a known maker', () => {
    const pem = '-----BEGIN PRIVATE KEY-----\nMIIEvQ+/=\n-----END PRIVATE KEY-----'
    expect(hidden(pem)).not.toContain('MII')
    expect(hidden('%22github_pat_11ABCDEFG0123456789%22')).not.toContain('11ABC')
  })

  it('hides a known value in base64, whatever surrounds it', () => {
    for (const before of ['', 'a', 'ab', 'user:', 'x'.repeat(31)]) {
      for (const coding of ['base64', 'base64url'] as const) {
        const encoded = Buffer.from(`${before}${known}!after`).toString(coding)
        const shown = Buffer.from(hidden(`Basic ${encoded}`).slice(6), coding).toString()
        expect(shown).not.toContain('sesame')
        expect(hidden(`{"blob":"${encoded}"}`)).toContain('*'.repeat(20))
      }
    }
  })
})

describe('compressed bodies', () => {
  const text = JSON.stringify({ access_token: 'word', user: 'ada' })
  const plain = text.replace('word', '****')
  it.each([
    ['gzip', gzipSync(text)],
    ['br', brotliCompressSync(text)],
    ['deflate', deflateSync(text)],
    ['deflate', deflateRawSync(text)],
    ['zstd', zstdCompressSync(text)],
    ['gzip, br', brotliCompressSync(gzipSync(text))],
  ])('stores a body with the coding %s as plain text without secrets', async (coding, bytes) => {
    const headers = [['content-encoding', coding]] as const
    const request = await redactedRequest([bytes], headers, hide)
    const answer = await redactedAnswer([bytes], headers, hide)
    expect([request, answer].map((chunks) => Buffer.concat(chunks!).toString()))
      .toEqual([plain, plain])
  })

  it('remembers tokens in a compressed file of a response', async () => {
    const { hide: hideInRun, learn } = new RunSecrets(hide)
    const file = gzipSync('{"access_token":"opaque-token-4711"}')
    await redactedAnswer([file], [], hideInRun, learn)
    expect(hideInRun('{"sent":"opaque-token-4711"}')).toBe(`{"sent":"${stars(17)}"}`)
  })

  it('compresses a gzip file of a response again after redaction', async () => {
    const answer = await redactedAnswer([gzipSync(text)], [], hide)
    expect(gunzipSync(Buffer.concat(answer!)).toString()).toBe(plain)
    const other = gzipSync('{"user":"ada"}')
    expect(await redactedAnswer([other], [], hide)).toEqual([other])
    const request = await redactedRequest([gzipSync(text)], [], hide)
    expect(Buffer.concat(request!).toString()).toBe(plain)
  })

  it.each([['br', brotliCompressSync(Buffer.alloc(8 * 1024 * 1024))], ['gzip',
    Buffer.from('no gzip')], ['lzma', Buffer.from('a')]])(
      'drops a body with the coding %s that is too large or not readable',
      async (coding, bytes) => {
        const headers = [['content-encoding', coding]] as const
        expect(await redactedRequest([bytes], headers, hide)).toBeUndefined()
        expect(await redactedAnswer([bytes], headers, hide)).toBeUndefined()
      },
    )
})

const secretText = fc.string({ minLength: 12, maxLength: 40, unit: 'grapheme-ascii' })
  .filter((text) => !/^\s|\s$/.test(text) && new Set(text).size > 6 && !text.includes('*'))
const encoding = fc.constantFrom<(text: string) => string>(
  (text) => text,
  (text) => JSON.stringify(text),
  (text) => JSON.stringify(JSON.stringify({ text })),
  encodeURIComponent,
  (text) => new URLSearchParams({ text }).toString(),
  (text) => Buffer.from(text).toString('base64'),
  (text) => Buffer.from(text).toString('base64url'),
  (text) => `Basic ${Buffer.from(`user:${text}`).toString('base64')}`,
  (text) => encodeURIComponent(Buffer.from(`ab${text}cd`).toString('base64')),
  (text) => Buffer.from(text).toString('hex'),
)
const carrier = fc.constantFrom<(text: string) => string>(
  (text) => `before ${text} after`,
  (text) => JSON.stringify({ a: [{ b: text }] }),
  (text) => `data: ${JSON.stringify({ delta: text })}\n\n`,
  (text) => `a=1&b=${text}&c=2`,
  (text) => `<a b="1">${text}</a>`,
)
const compression = fc.constantFrom<readonly [string, (text: string) => Uint8Array]>(
  ['identity', (text) => Buffer.from(text)],
  ['gzip', gzipSync],
  ['br', brotliCompressSync],
  ['deflate', deflateSync],
)

/** Readings of a stored text in which a secret would be found. */
function readings(text: string): readonly string[] {
  const runs = text.match(/(?:[\w+/-]|%2[BFbf])+/g) ?? []
  const decoded = runs.flatMap((run) => {
    const plain = run.replace(/%2b/gi, '+').replace(/%2f/gi, '/')
    return [0, 1, 2, 3].flatMap((
      from,
    ) => [Buffer.from(plain.slice(from), 'base64').toString(),
      Buffer.from(plain.slice(from), 'hex').toString()]
    )
  })
  const url = decodedUrl(text)
  return [text, url, decodedUrl(url), unquoted(text), unquoted(url), unquoted(unquoted(text)),
    ...decoded]
}

function unquoted(text: string): string {
  return text.replace(/\\(.)/g, '$1')
}

function decodedUrl(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return text
  }
}

describe('random secrets in random carriers and encodings', () => {
  it('stores no secret in any encoding, and a replay makes an equal request', async () => {
    await fc.assert(
      fc.asyncProperty(secretText, encoding, carrier, compression,
        async (secret, encode, carry, [coding, compress]) => {
          const headers = [['content-encoding', coding]] as const
          const hideIt = byteHider({ APP_KEY: secret })
          const text = carry(encode(secret))
          const [request, answer] = await Promise.all([
            redactedRequest([compress(text)], headers, hideIt),
            redactedAnswer([compress(text)], headers, hideIt),
          ])
          const url = recordedUrl(`https://a.test/?q=${encodeURIComponent(text)}`, hideIt)
          const stored = [request!, answer!].map((chunks) => Buffer.concat(chunks).toString())
          for (const each of [...stored, url]) {
            // No more than its first or last characters are left.
            const inner = secret.slice(2, -2)
            expect(readings(each).filter((reading) => reading.includes(inner))).toEqual([])
          }
          const { APP_KEY: standIn } = standIns({ APP_KEY: secret }, [])
          const asked = { method: 'POST', url: 'https://a.test/', headers: [],
            chunks: [Buffer.from(carry(encode(standIn!)))] }
          const recorded = { ...asked, chunks: request! }
          const hideStars = byteHider({ APP_KEY: standIn! })
          expect((await redactedIdentity(asked, hideStars)).exact)
            .toBe((await redactedIdentity(recorded, hideStars)).exact)
        }),
      { numRuns: 100 },
    )
  })
})
