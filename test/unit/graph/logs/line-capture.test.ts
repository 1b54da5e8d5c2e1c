/** Lines of runs: each goes to the run whose code wrote it, in order, within bounds. */

import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { LineCapture } from '../../../../src/graph/logs/line-capture.ts'
import { lineMax } from '../../../../src/graph/logs/run-line.ts'
import type { WrittenLine } from '../../../../src/graph/logs/run-line.ts'
import { secretHider } from '../../../../src/graph/logs/secret-values.ts'

function house(hide = (text: string) => text) {
  const sent: (WrittenLine & { job: number; dropped: number })[] = []
  const printed: unknown[][] = []
  const flushes: (() => void)[] = []
  let node: string | undefined
  const print = (...words: unknown[]) => void printed.push(words)
  const console = { debug: print, log: print, info: print, warn: print, error: print }
  const capture = new LineCapture({
    send: (job, { lines, dropped }) => {
      sent.push(...lines.map((line) => ({ ...line, job, dropped })))
    },
    schedule: (flush) => void flushes.push(flush),
    nowMs: () => 7,
    node: () => node,
    hide,
  })
  capture.watch(console)
  return { sent, printed, flushes, console, capture,
    enter: (name: string | undefined) => void (node = name) }
}

describe('a line', () => {
  it('is that of the job whose code writes it, also of several at once', async () => {
    const { capture, console, sent, printed } = house()
    await Promise.all([1, 2, 3].map((job) =>
      capture.during(job, async () => {
        for (let n = 0; n < 3; n++) {
          console.log('job %d', job, n)
          await setImmediate()
        }
      })
    ))
    for (const job of [1, 2, 3]) {
      expect(sent.filter((line) => line.job === job).map(({ text }) => text))
        .toEqual([0, 1, 2].map((n) => `job ${job} ${n}`))
    }
    expect(printed).toHaveLength(9)
  })

  it('has its level and its node', async () => {
    const { capture, console, sent, enter } = house()
    await capture.during(1, async () => {
      console.debug('a')
      enter('agent')
      console.warn({ b: 1 })
      console.error(new TypeError('c'))
    })
    expect(sent).toMatchObject([{ atMs: 7, level: 'debug', text: 'a' }, { level: 'warn',
      text: '{ b: 1 }', node: 'agent' }, { level: 'error',
      text: expect.stringContaining('TypeError: c') }])
    expect(sent[0]).not.toHaveProperty('node')
  })

  it('outside of jobs is only printed, and nothing is sent for a job without lines', async () => {
    const { capture, console, sent, printed, flushes } = house()
    console.info('x')
    await capture.during(1, async () => {})
    expect([sent, printed, flushes]).toEqual([[], [['x']], []])
  })

  it('is cut if it is long, and the oldest of very many are left out', async () => {
    const { capture, console, sent } = house()
    await capture.during(1, async () => {
      for (let n = 0; n < 5_000; n++) console.log(n)
      console.log('x'.repeat(10 * lineMax))
    })
    expect(sent.length).toBeLessThanOrEqual(1_000)
    expect(sent[0]!.dropped).toBe(5_001 - sent.length)
    expect(sent.at(-1)!.text).toHaveLength(lineMax)
    expect(sent.at(-2)!.text).toBe('4999')
  })

  it('whose values throw when they are shown harms nothing', async () => {
    const { capture, sent } = house()
    const evil = { get [Symbol.toStringTag]() {
      throw new Error('evil')
    } }
    await capture.during(1, async () => capture.take('info', evil))
    expect(sent).toHaveLength(1)
  })
})

describe('secrets', () => {
  const hide = secretHider({ OPENAI_API_KEY: 'plain-value-1', DB_PASSWORD: 'hunter2hunter2',
    PATH: '/usr/bin:/bin', SHORT_KEY: 'abc' })

  it.each([
    ['the key is plain-value-1.', 'the key is [secret].'],
    ['hunter2hunter2', '[secret]'],
    ['{"access_token":"word","a":1}', '{"access_token":"[secret]","a":1}'],
    ['see eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln!', 'see [secret]!'],
    [`Basic ${Buffer.from('ann:hunter2hunter2').toString('base64')}`, 'Basic [secret]'],
    ['abc in /usr/bin:/bin', 'abc in /usr/bin:/bin'],
    ['Authorization: Bearer abcdefgh.ijkl', 'Authorization: Bearer [secret]'],
    ['postgres://ann:topsecret@host/db', 'postgres://ann:[secret]@host/db'],
    ['sk-proj-0123456789abcdef', '[secret]'],
    ['hdl_us_0123456789abcdef_xyz', '[secret]'],
    ['a task-like-word stays', 'a task-like-word stays'],
  ])('%j is shown as %j', (text, shown) => {
    expect(hide(text)).toBe(shown)
  })

  it('at the place where a long line is cut are hidden', async () => {
    const { capture, sent } = house(hide)
    await capture.during(1,
      async () => capture.take('info', `${'x'.repeat(lineMax - 6)}plain-value-1`))
    expect(sent[0]!.text).not.toContain('plain')
  })
})
