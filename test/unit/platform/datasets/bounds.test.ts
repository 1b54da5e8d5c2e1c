/** What a short request may cost: files, schemas and metadata whose work or bytes multiply. */

import { expect, it } from 'vitest'

import { withMetadata } from '../../../../src/platform/evaluate/datasets/example-change.ts'
import { examplesInUpload } from '../../../../src/platform/evaluate/datasets/sent/upload.ts'
import { misfit } from '../../../../src/platform/evaluate/datasets/schema-check.ts'

function upload(file: string, fields: readonly (readonly [string, string])[] = []) {
  const part = (name: string, value: string) =>
    `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
  const body = fields.map(([name, value]) => part(name, value)).join('') + part('file', file) +
    '--x--\r\n'
  return examplesInUpload(Buffer.from(body), 'multipart/form-data; boundary=x').examples
}

it('The names of columns are a part of each line of a file', () => {
  const names = Array.from({ length: 100 }, (_, at) => `${at}${'n'.repeat(10_000)}`)
  expect(() => upload(`${names.join(',')}\n${'a\n'.repeat(100)}`)).toThrow(/64 MiB/)
  expect(upload(`${names.join(',')}\na\n`)).toHaveLength(1)
  const keys = Array.from({ length: 2_000 }, (_, at) => ['input_keys', String(at)] as const)
  expect(() => upload('{"a":1}\n', keys)).toThrow(/1000/)
})

it('Columns that no example keeps cost nothing in each row', () => {
  const names = (count: number) => Array.from({ length: count }, (_, at) => `c${at}`).join(',')
  const msOf = (columns: number) => {
    const file = `${names(columns)}\n${'a\n'.repeat(5_000)}`
    return Math.min(...[1, 2, 3].map(() => {
      const began = performance.now()
      expect(upload(file, [['input_keys', 'c0']])).toHaveLength(5_000)
      return performance.now() - began
    }))
  }
  expect(msOf(1_000)).toBeLessThan(10 * msOf(1) + 20)
})

const many = <Value>(value: Value, count = 2_000) => Array.from({ length: count }, () => value)

it.each([
  ['a long value that is compared often', { items: { enum: many({}, 10_000) } },
    many(Object.fromEntries(many(0, 1_000).map((_, at) => [String(at), at])))],
  ['a long text that is measured often', { allOf: many({ minLength: 5_000_000 }) },
    'x'.repeat(8_000_000)],
  ['long lists of the schema', { items: { required: many('a', 10_000) } }, many({ a: 1 })],
  ['long references', { items: { $ref: `#${'/'.repeat(40_000)}$defs/a` }, $defs: { a: {} } },
    many(1, 20_000)],
])('A check ends soon for %s', (_, schema, value) => {
  expect(misfit(schema, value)?.reason).toMatch(/too much to check|none of the values/)
}, 20_000)

it.each([
  [{ enum: [{ a: [1, { b: null }], c: 1 }] }, { c: 1, a: [1, { b: null }] }, true],
  [{ enum: [{ a: 1 }, [1]] }, { a: 1, b: 2 }, false],
  [{ const: [1, 2] }, [1, 2], true],
  [{ const: [1, 2] }, { 0: 1, 1: 2 }, false],
  [{ const: {} }, [], false],
  [{ minLength: 2, maxLength: 2 }, '🙂🙂', true],
  [{ minLength: 3 }, '🙂🙂', false],
  [{ maxLength: 1 }, '🙂🙂', false],
  [{ maxLength: 0 }, 'x', false],
  [{ minLength: 0, maxLength: 0 }, '', true],
])('%j fits %j: %s', (schema, value, fits) => {
  expect(misfit(schema, value) === undefined).toBe(fits)
})

it('Metadata stay short, however often they are added to', () => {
  const before = {
    row: { inputs: Buffer.from('{}'), outputs: null, sourceRun: null, files: [],
      metadata: { list: Array.from({ length: 10_000 }, (_, at) => `b${at}`) } },
    splits: [],
  }
  const values = (name: string) => Array.from({ length: 1_000 }, (_, at) => `${name}${at}`)
  const removed = withMetadata('x', before,
    many({ key: 'list', operation: 'remove' as const, values: values('a') }, 50))
  expect(removed.row.metadata).toEqual(before.row.metadata)
  const added = (name: string) => ({ key: 'list', operation: 'add' as const, values: values(name) })
  expect(() => withMetadata('x', before, Array.from({ length: 50 }, (_, at) => added(`c${at}-`))))
    .toThrow(/256 KB/)
})
