/** The language of filters: how texts are read, and what is said of those that are none. */

import fc from 'fast-check'
import { expect, it } from 'vitest'

import type { HeddleError } from '../../../../src/errors.ts'
import { filterDepthMax, filterLengthMax,
  parseFilter } from '../../../../src/platform/query/filter/filter-text.ts'
import { readFilter } from '../../../../src/platform/query/filter/read-filter.ts'
import { expectAlways } from '../../../support/expect-always.ts'
import { filterText } from '../../../support/filter-agreement.ts'

const anyText = fc.string({ unit: 'binary', maxLength: 40 })

it('Every text survives as JSON writes it.', () => {
  expectAlways(fc.property(anyText, (text) => {
    const part = parseFilter(`eq(thread_id, ${JSON.stringify(text)})`)
    expect(part).toMatchObject({ values: [{ kind: 'name' }, { kind: 'text', value: text }] })
  }))
})

it('Every text survives in single quotes.', () => {
  expectAlways(fc.property(anyText, (text) => {
    const quoted = `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
    expect(parseFilter(quoted)).toMatchObject({ kind: 'text', value: text })
  }))
})

it('A filter that is cut off is refused, with a place inside of it.', () => {
  expectAlways(fc.property(filterText, fc.nat(), (text, at) => {
    const cut = text.slice(0, at % text.length)
    const { code, message } = refusal(() => readFilter(cut))
    expect(code).toBe('malformed')
    const place = Number(/ at character (\d+)\.$/.exec(message)![1])
    expect(place).toBeGreaterThanOrEqual(1)
    expect(place).toBeLessThanOrEqual(cut.length + 1)
  }))
})

it.each([
  ['', 'a value is expected at character 1'],
  ['name', 'a call such as eq(name, "x") is expected at character 1'],
  ['eq(name, "x") or', 'the end is expected at character 15'],
  ['eq(name "x")', '"," or ")" is expected at character 9'],
  ['eq(name, "x', 'a text without its end at character 10'],
  ['eq(name, "\\x")', 'an unknown escape at character 12'],
  ['eq(colour, "x")', 'colour is no field of filters at character 4'],
  ['like(name, "x")', 'like is no call of filters at character 1'],
  ['eq(name)', 'eq takes 2 values, not 1 at character 1'],
  ['in(name, "x")', 'a list such as ["a", "b"] is expected at character 10'],
  ['eq(total_tokens, "many")', 'a number is expected at character 18'],
  ['gt(start_time, "soon")',
    'a time such as "2026-01-31T12:00:00Z" or milliseconds is expected at character 16'],
  ['gt(metadata_key, "k")', 'metadata_key takes eq, neq or in at character 1'],
  ['has(metadata, "k")', 'the JSON of an object in a text is expected at character 15'],
  ['search(latency, "k")',
    'search takes a text, or one of name, error, inputs, outputs, tags, metadata and a text ' +
    'at character 8'],
  ['eq(is_root, null)', 'is_root takes eq or neq with true or false at character 13'],
  ['gt(end_time, null)', 'null takes eq or neq at character 14'],
  ['not(eq(name, "a"), eq(name, "b"))', 'not takes 1 value, not 2 at character 1'],
  ['eq(toString, "x")', 'toString is no field of filters at character 4'],
  ['constructor(name, "x")', 'constructor is no call of filters at character 1'],
  [`or(${Array.from({ length: 33 }, () => 'search("x")').join()})`,
    'more than 32 conditions on payloads at character 1'],
  [`search("${Array.from({ length: 33 }, (_, n) => `w${n}`).join(' ')}")`,
    'more than 32 conditions on payloads at character 1'],
  [`search("${'x'.repeat(201)}")`, 'a word of more than 200 characters at character 8'],
  [`and(eq(input_key, "k"), in(input_value, [${Array.from({ length: 600 }, (_, n) => n).join()}]))`,
    'more than 32 conditions on payloads at character 1'],
  [`has(metadata, '{"a":${'['.repeat(66)}${']'.repeat(66)}}')`,
    'the JSON of an object in a text is expected at character 15'],
  [`eq(name, "${'x'.repeat(filterLengthMax)}")`,
    `more than ${filterLengthMax} characters at character ${filterLengthMax + 1}`],
])('%s', (text, what) => {
  expect(refusal(() => readFilter(text)).message).toBe(`filter: ${what}.`)
})

it('Calls are at most so deep.', () => {
  const nested = (depth: number) => `${'not('.repeat(depth)}eq(name, "x")${')'.repeat(depth)}`
  expect(() => readFilter(nested(filterDepthMax - 1))).not.toThrow()
  expect(refusal(() => readFilter(nested(filterDepthMax))).message)
    .toContain(`more than ${filterDepthMax} levels`)
})

function refusal(read: () => unknown): HeddleError {
  try {
    read()
  } catch (error) {
    return error as HeddleError
  }
  return expect.fail('It was read.')
}
