/** Long JSON is read in another thread, and says what is wrong with it. */

import { describe, expect, it, onTestFinished } from 'vitest'

import { systemEnv } from '../../../cluster/index.ts'
import { longJson, readLongJson } from '../../../src/json/index.ts'
import { RawJson, textOf } from '../../../src/raw-json.ts'

function reader() {
  const json = readLongJson(systemEnv({ level: 'silent' }).log)
  onTestFinished(() => json.close())
  return json
}

const read = (text: string, carried: object = {}) =>
  reader().read('t', { what: 'It', bytes: Buffer.from(text), carried: carried as never })

const long = 'x'.repeat(300)
const veryLong = 'y'.repeat(2 * 1024 * 1024)

describe('long JSON', () => {
  it('is the value that it says', async () => {
    const value = { a: [1, 'é', null], b: { c: true } }
    expect(await read(JSON.stringify(value))).toEqual(value)
  })

  it('keeps as text what is carried, and splits it as deep as is asked for', async () => {
    const input = { a: long }
    const command = { goto: ['n', { node: 'm', input: { b: long } }], resume: long, other: 1 }
    const value = await read(JSON.stringify({ input, command }), { input: 0,
      command: { goto: 2, resume: 1 } })
    expect(value).toEqual({
      input: new RawJson(JSON.stringify(input)),
      command: { goto: ['n', { node: 'm', input: new RawJson(JSON.stringify({ b: long })) }],
        resume: new RawJson(JSON.stringify(long)), other: 1 },
    })
    expect(JSON.parse(textOf(value))).toEqual({ input, command })
  })

  it('may be carried as a whole', async () => {
    const text = JSON.stringify([long])
    const value = await reader().read('t', { what: 'It', bytes: Buffer.from(text), carried: 0 })
    expect(value).toEqual(new RawJson(text))
  })

  it('may have any names', async () => {
    const text = `{"values":{"__proto__":"${long}","constructor":"${long}","0":"${long}"}}`
    const value = await read(text, { values: 1 })
    expect(JSON.parse(textOf(value))).toEqual(JSON.parse(text))
    expect(Object.getPrototypeOf((value as { values: object }).values)).toBe(Object.prototype)
  })

  it.each([
    ['{', 'malformed', /^It is not valid JSON/],
    [`${'['.repeat(501)}${']'.repeat(501)}`, 'invalid', /^It is nested deeper than 500 levels/],
    [`[${'0,'.repeat(1_000_000)}0]`, 'invalid', /^It has more than 1000000 values/],
    [`{"a":"${veryLong}","b":1}`, 'invalid', /^a: may be 1 MB of JSON with 50000 values/],
    [`{"a":1,"b":[${'0,'.repeat(50_000)}0]}`, 'invalid', /^b: may be 1 MB/],
    [`["${veryLong}"]`, 'invalid', /^It: may be 1 MB/],
  ])('is refused if something is wrong: %.20s', async (text, code, message) => {
    await expect(read(text)).rejects
      .toMatchObject({ code, message: expect.stringMatching(message) as string })
  })

  it('counts values, not keys, and not what is in texts', async () => {
    const object = `{${Array.from({ length: 20_000 }, (_, n) => `"k${n}":"[,{\\",:"`).join(',')}}`
    expect(Object.keys(await read(object) as object)).toHaveLength(20_000)
  })

  it('is searched and picked from, long or short', async () => {
    const json = reader()
    for (const filler of ['', 'z'.repeat(2 * longJson)]) {
      const text = JSON.stringify({ filler, list: [{ a: 1 }, { b: 'é' }] })
      expect(await json.contains('t', text, { list: [{ b: 'é' }] })).toBe(true)
      expect(await json.contains('t', text, { list: [{ b: 1 }] })).toBe(false)
      expect(await json.pick('t', text, [['list', '-1', 'b'], ['none'], ['list', '0']]))
        .toEqual(['"é"', 'null', '{"a":1}'])
    }
  })

  it('is read in turn for each tenant', async () => {
    const json = reader()
    const order: string[] = []
    const bytes = () => Buffer.from(`[${'0,'.repeat(40_000)}0]`)
    const ask = (tenant: string) =>
      json.read(tenant, { what: 'It', bytes: bytes(), carried: {} })
        .then(() => order.push(tenant))
    await Promise.all([ask('a'), ask('a'), ask('a'), ask('b')])
    expect(order.indexOf('b')).toBeLessThan(3)
  })
})
