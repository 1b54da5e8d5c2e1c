/** Logins in the address of a model are refused, or hidden, however JSON writes them. */

import { expect, it } from 'vitest'

import { readCommitBody,
  shownManifest } from '../../../../src/platform/evaluate/prompts/commit-body.ts'

const model = (address: string) => {
  const prompt = '{"lc":1,"type":"constructor","id":["ChatPromptTemplate"],"kwargs":{}}'
  const last = `{"lc":1,"type":"constructor","id":["ChatOpenAI"],"kwargs":{"base_url":${address}}}`
  return Buffer.from('{"manifest":{"lc":1,"type":"constructor","id":["RunnableSequence"],' +
    `"kwargs":{"first":${prompt},"last":${last}}}}`)
}

const logins = [
  '"https://ann:pass@m.example"',
  '"https:\\/\\/ann:pass@m.example"',
  '"https://ann:pass\\u0040m.example"',
  '"\\u0068ttps:\\u002f\\u002Fann@m.example"',
]

it.each(logins)('refuses %s', (address) => {
  expect(() => readCommitBody(model(address))).toThrow(/user or a password/)
})

it.each(logins)('hides %s in what was kept before', (address) => {
  const { manifest, prompt } = readCommitBody(model('"https://m.example"'))
  const kept = Buffer.from(Buffer.from(manifest).toString().replace('"https://m.example"', address))
  expect(Buffer.from(shownManifest(kept, prompt)).toString()).toBe(Buffer.from(manifest).toString())
})

it('shows what has no login byte by byte', () => {
  const { manifest, prompt } = readCommitBody(model('"https:\\/\\/m.example/\\u00e9\\"@b"'))
  expect(Buffer.from(shownManifest(manifest, prompt))).toEqual(Buffer.from(manifest))
})

it.each(['"https://m.example/a@b"', '"https://m.example?a=b\\u0040c"', '"ann@example.org"'])(
  'takes %s',
  (address) => {
    expect(readCommitBody(model(address)).prompt).not.toBeNull()
  },
)
