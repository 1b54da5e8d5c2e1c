/** Multipart bodies: as clients write them, with wrong lengths, and cut off at every byte. */

import { describe, expect, it } from 'vitest'

import { HeddleError } from '../../../../src/errors.ts'
import { readMultipart } from '../../../../src/platform/ingest/body/multipart-body.ts'
import { boundaryOf, partsOf } from '../../../../src/platform/ingest/body/multipart.ts'
import { multipartOf, partsOfRuns } from '../../../support/ingest-bodies.ts'
import type { ClientBody, ClientOperation, ClientPart } from '../../../support/ingest-bodies.ts'

const idOf = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`
const operations: readonly ClientOperation[] = [1, 2].flatMap((n) => [
  { kind: 'post', run: { id: idOf(n), name: 'ä"\r\n--', inputs: { text: '--boundary\r\n\r\n' } } },
  { kind: 'patch', run: { id: idOf(n), outputs: ['x'], extra: {}, error: 'broken' } },
])
const parts = partsOfRuns(operations)
const styles = ['js', 'python', 'lengthless'] as const

const split = ({ body, contentType }: ClientBody) => [...partsOf(body, boundaryOf(contentType))]

describe('parts', () => {
  it.each(styles)('are found in the style "%s"', (style) => {
    expect(split(multipartOf(parts, style)).map(({ name, type, data }) => [name, type, data]))
      .toEqual(parts)
  })

  it.each(['0', '1', '999999999999999', 'minus one'])('are searched if a length lies: %s',
    (length) => {
      const { body, contentType } = multipartOf(parts)
      const lying = Buffer.from(
        body.toString('latin1').replaceAll(/length=\d+/g, `length=${length}`),
        'latin1',
      )
      expect(split({ body: lying, contentType }).map(({ name, data }) => [name, data]))
        .toEqual(parts.map(([name, , data]) => [name, data]))
    })

  it('may hold what looks like a boundary, if their length is right', () => {
    const [, opening] = /boundary=(.*)/.exec(multipartOf([]).contentType)!
    const data = Buffer.from(`a\r\n--${opening}--\r\n--${opening}\r\n\r\nb`)
    const tricky: ClientPart[] = [['attachment.x.y', 'text/plain', data]]
    expect(split(multipartOf(tricky))).toMatchObject([{ data }])
  })

  it('may hold what only begins with a boundary', () => {
    const [, opening] = /boundary=(.*)/.exec(multipartOf([]).contentType)!
    const data = Buffer.from(`a\r\n--${opening}6 b`)
    expect(split(multipartOf([['attachment.x.y', '', data]], 'lengthless'))).toMatchObject([{
      data,
    }])
  })

  it('may come after a preamble, with a file name and a quoted boundary', () => {
    const body = Buffer.from(
      'hello\r\n--b b\r\ncontent-disposition: form-data; filename="f.json"; ' +
        'name="post.x"\r\n\r\n{}\r\n--b b--',
    )
    expect(split({ body, contentType: 'multipart/form-data; boundary="b b"' }))
      .toEqual([{ name: 'post.x', type: '', data: Buffer.from('{}') }])
  })
})

describe('a boundary', () => {
  const typed = (boundary: string) => `multipart/form-data; boundary="${boundary}"`

  it('has at most 70 characters, none of which ends a line', () => {
    expect(boundaryOf(typed('b'.repeat(70)))).toHaveLength(70)
    for (const wrong of ['b'.repeat(71), 'a\rb', 'a\nb', 'b ', 'é', 'a;b']) {
      expect(() => boundaryOf(typed(wrong)), wrong).toThrow(/A boundary has 1 to 70/)
    }
  })

  it('is found at every place behind near misses', () => {
    const boundary = `b${'a'.repeat(69)}`
    const nears = ['\r', '\r\n--', `\r\n--${boundary.slice(0, -1)}`, `\r\n--${boundary}a`, 'x',
      'x'.repeat(255), `\r${'x'.repeat(300)}`]
    for (const near of nears) {
      for (const count of [0, 1, 5]) {
        const data = near.repeat(count)
        const body = Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; name="x"` +
          `\r\n\r\n${data}\r\n--${boundary}--`)
        const [part] = split({ body, contentType: typed(boundary) })
        expect(part!.data!.toString()).toBe(data)
      }
    }
  })

  it('is searched in the time that plain bytes take, whatever nearly is one', () => {
    const bytes = 2 ** 20
    const boundary = `b${'a'.repeat(69)}`
    const msOf = (data: string) => {
      const body = Buffer.from(`--${boundary}\r\n\r\n${data.repeat(bytes / data.length)}`)
      return Math.min(...Array.from({ length: 4 }, () => {
        const began = performance.now()
        expect([...partsOf(body, boundary)]).toHaveLength(1)
        return performance.now() - began
      }))
    }
    const alone = msOf('\r')
    for (const near of ['a', '\r\n--', `\r\n--${boundary.slice(0, -1)}`, 'a'.repeat(69)]) {
      expect(msOf(near), near).toBeLessThan(4 * alone + 5)
    }
  })
})

describe.each(styles)('a body in the style "%s"', (style) => {
  it('that is cut off anywhere gives all that was whole, and says so', () => {
    const { body, contentType } = multipartOf(parts, style)
    const ends = endsOf(body, style)
    for (let length = 0; length < body.length - 2; length++) {
      const cut = Buffer.from(body.subarray(0, length))
      const whole = ends.filter((end) => end <= length).length
      try {
        const { operations: read, rejected } = readMultipart(cut, contentType)
        expect(read.length).toBeGreaterThanOrEqual(wholeOperations(whole))
        if (!cut.includes(`${boundaryOf(contentType)}--`)) expect(rejected).not.toEqual([])
        // An operation of which a part is missing is not taken, where its name can be read.
        for (const { kind, id, apart } of read) {
          for (const [name, data] of apart) {
            expect(parts).toContainEqual([`${kind}.${id}.${name}`, 'application/json', data])
          }
        }
      } catch (error) {
        expect(error).toBeInstanceOf(HeddleError)
        expect(whole).toBe(0)
      }
    }
  })

  it('may have its parts in any order, and an operation twice', () => {
    const again = partsOfRuns([{ kind: 'patch', run: { id: idOf(1), outputs: ['y'] } }])
    for (const order of [parts.toReversed(), parts]) {
      const { body, contentType } = multipartOf([...order, ...again], style)
      const { operations: read, rejected } = readMultipart(body, contentType)
      expect(rejected).toEqual([])
      expect(read).toHaveLength(operations.length + 1)
      expect(read.filter(({ apart }) => apart.get('outputs')?.toString() === '["y"]'))
        .toMatchObject([{ kind: 'patch', id: idOf(1) }])
    }
  })
})

it('What is no operation is named, and the rest is taken.', () => {
  const bytes = Buffer.from('{}')
  const { body, contentType } = multipartOf([['post', '', bytes], ['what.x', '', bytes], [
    'patch.x.outputs',
    '',
    bytes,
  ], ['attachment.y', '', bytes], [`attachment.y.${'n'.repeat(501)}`, '', bytes], ['post.z', '',
    bytes], ['post.w', '', bytes], ['post.w.inputs', '', Buffer.alloc(20 * 1024 * 1024 + 1)]])
  const { operations: read, rejected } = readMultipart(body, contentType)
  expect(read.map(({ id }) => id)).toEqual(['', 'z'])
  expect(rejected.map(({ id }) => id)).toEqual(['x', 'y', 'y', 'x', 'w'])
})

/** Where each part ends. */
function endsOf(body: Buffer, style: (typeof styles)[number]): number[] {
  let at = 0
  return parts.map(([, , data]) => {
    const from = body.indexOf(Buffer.concat([Buffer.from('\r\n\r\n'), data]), at) + 4
    at = from + data.length
    // Without a length, only the next boundary says that a part is whole.
    return style === 'lengthless'
      ? at + '\r\n--'.length +
        boundaryOf(multipartOf([], style).contentType).length
      : at
  })
}

/** How many operations are whole if so many parts are. */
function wholeOperations(whole: number): number {
  let [count, seen] = [0, 0]
  for (const operation of operations) {
    seen += partsOfRuns([operation]).length
    if (seen <= whole) count++
  }
  return count
}
