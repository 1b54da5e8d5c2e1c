/** Users and passwords in the address of a prompt's model are refused, however JSON writes them. */

import { expect, it } from 'vitest'

import { readCommitBody } from '../../../../src/platform/prompts/commit-body.ts'

const model = (address: string) => {
  const prompt = '{"lc":1,"type":"constructor","id":["ChatPromptTemplate"],"kwargs":{}}'
  const last = `{"lc":1,"type":"constructor","id":["ChatOpenAI"],"kwargs":{"base_url":${address}}}`
  return Buffer.from('{"manifest":{"lc":1,"type":"constructor","id":["RunnableSequence"],' +
    `"kwargs":{"first":${prompt},"last":${last}}}}`)
}

it.each([
  '"https://ann:pass@m.example"',
  '"https:\\/\\/ann:pass@m.example"',
  '"https://ann:pass\\u0040m.example"',
  '"\\u0068ttps:\\u002f\\u002Fann@m.example"',
])('refuses %s', (address) => {
  expect(() => readCommitBody(model(address))).toThrow(/user or a password/)
})

it.each(['"https://m.example/a@b"', '"https://m.example?a=b\\u0040c"', '"ann@example.org"'])(
  'takes %s',
  (address) => {
    expect(readCommitBody(model(address)).prompt).not.toBeNull()
  },
)
