/** What a recording keeps of URLs, headers and bodies. */

import { expect, it } from 'vitest'

import { byteHider, hiddenChunks } from '../../../../src/graph/recording/hidden-bytes.ts'
import { recordedHeaders, recordedUrl } from '../../../../src/graph/recording/recorded-url.ts'

const plain = (text: string) => text

it.each([
  ['https://a.test/v1?key=abc&q=1', 'https://a.test/v1?key=***&q=1'],
  ['https://a.test/?api%5Fkey=abc', 'https://a.test/?api%5Fkey=***'],
  ['https://a.test/?X-Amz-Signature=abc&X-Amz-Date=1',
    'https://a.test/?X-Amz-Signature=***&X-Amz-Date=1'],
  ['https://a.test/?access_token=a&pageToken=b&max_tokens=9',
    'https://a.test/?access_token=***&pageToken=b&max_tokens=9'],
  ['https://a.test/?keyword=abc&monkey=1', 'https://a.test/?keyword=abc&monkey=1'],
  ['https://ada:word@a.test/b', 'https://a.test/b'],
  ['/next?token=a', '/next?token=***'],
])('The URL %s is kept as %s.', (url, kept) => {
  expect(recordedUrl(url, plain)).toBe(kept)
})

it('Headers that say what an answer is are kept, and no others.', () => {
  expect(
    recordedHeaders([['content-type', 'a/b'], ['set-cookie', 'x'], ['authorization', 'x'], [
      'openai-request-id',
      'r',
    ], ['retry-after', '3'], ['location', '/a?sig=1']], plain),
  ).toEqual([
    ['content-type', 'a/b'],
    ['openai-request-id', 'r'],
    ['retry-after', '3'],
    ['location', '/a?sig=***'],
  ])
})

it('Secrets are stars of their length, as JSON and URLs write them as well.', () => {
  const hide = byteHider({ BANK_KEY: 'päss"word 1', HOME: 'ada-lovelace-1815' })
  const hidden = (text: string) => Buffer.concat(hiddenChunks([Buffer.from(text)], hide)).toString()
  expect(hidden('päss"word 1!')).toBe(`${'*'.repeat(12)}!`)
  expect(hidden(JSON.stringify({ a: 'päss"word 1' }))).toBe(`{"a":"${'*'.repeat(13)}"}`)
  expect(hidden(`b=${encodeURIComponent('päss"word 1')}`)).toBe(`b=${'*'.repeat(20)}`)
  expect(hidden('ada-lovelace-1815')).toBe('ada-lovelace-1815')
  expect(hidden('use sk-abc123def456ghi7')).toBe('use *******************')
  expect(hidden('a basic introduction to bearer instruments')).toContain('introduction')
})

it('The values of named secrets are hidden whatever their names.', () => {
  const variables = { STRIPE: 'value-of-one-1', HOME: 'ada-lovelace-1815' }
  const hide = byteHider(variables, ['STRIPE'])
  expect(hide('a value-of-one-1 of ada-lovelace-1815')).toBe(
    'a ************** of ada-lovelace-1815',
  )
  expect(byteHider(variables)('value-of-one-1')).toBe('value-of-one-1')
})
