/** Limits that an operator overrides: what is accepted, and the error for what is not. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, describe, expect, it } from 'vitest'

import { HeddleError } from '../../../src/errors.ts'
import { readLimitOverrides } from '../../../src/limits/index.ts'

const folder = mkdtempSync(join(tmpdir(), 'heddle-limits-'))
afterAll(() => rmSync(folder, { recursive: true }))

function read(text: string) {
  const file = join(folder, 'limits.json')
  writeFileSync(file, text)
  return readLimitOverrides(file)
}

describe('a file of limits', () => {
  it('is read as it is', () => {
    expect(read('{"default-key": {"count": 5}, "generate-key": {"intervalSeconds": 60}}'))
      .toEqual(new Map([['default-key', { count: 5 }], ['generate-key', { intervalSeconds: 60 }]]))
    expect(read('{}').size).toBe(0)
  })

  it.each([
    ['{', 'no JSON'],
    ['[]', 'no object'],
    ['null', 'no object'],
    ['{"default": {"count": 1}}', 'no limit named "default"'],
    ['{"default-key": 5}', '"default-key" is no object'],
    ['{"default-key": {"counts": 5}}', '"default-key" has a field "counts"'],
    ['{"default-key": {"count": 0}}', '"default-key.count" is no whole number'],
    ['{"default-key": {"count": 1.5}}', '"default-key.count" is no whole number'],
    ['{"default-key": {"count": "5"}}', '"default-key.count" is no whole number'],
    ['{"default-key": {"count": 1000001}}', 'from 1 to 1000000'],
    ['{"edge": {"count": 5, "intervalSeconds": -1}}', '"edge.intervalSeconds" is no whole number'],
  ])('is refused if it has %s, with the field and the file', (text, message) => {
    expect(() => read(text)).toThrow(HeddleError)
    expect(() => read(text)).toThrow(message)
    expect(() => read(text)).toThrow(join(folder, 'limits.json'))
  })

  it('is refused if it does not exist', () => {
    expect(() => readLimitOverrides(join(folder, 'none.json')))
      .toThrow(/^--limit-overrides \(or HEDDLE_LIMIT_OVERRIDES\): \S+none.json cannot be read: E/)
  })
})
