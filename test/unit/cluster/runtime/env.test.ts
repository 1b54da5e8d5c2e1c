/** The system env: ids in order, timers that can be ended, and readable log lines. */

import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { describe, expect, it, onTestFinished } from 'vitest'

import { systemEnv } from '../../../../cluster/index.ts'

const door = new URL('../../../../cluster/index.ts', import.meta.url).href

/** The command line of a separate process that runs `code` with `log`. */
function command(options: object, code: string): string[] {
  const script = `import { systemEnv } from '${door}'
    const { log } = systemEnv(${JSON.stringify(options)})
    ${code}`
  return [process.execPath, '--input-type=module', '--eval', script]
}

/** What such a process writes to its console. */
function written(options: object, code: string): string {
  const [program, ...args] = command(options, code)
  return spawnSync(program!, args, { encoding: 'utf8' }).stderr
}

describe('the system env', () => {
  it('makes time-ordered ids that only grow', () => {
    const env = systemEnv({ level: 'silent' })
    const ids = Array.from({ length: 20_000 }, () => env.uuid7())
    expect(ids).toEqual(ids.toSorted())
    expect(new Set(ids).size).toBe(ids.length)
    expect(env.uuid()).toMatch(/^[\da-f]{8}-[\da-f]{4}-4/)
  })

  it('calls timers unless they were ended', async () => {
    const env = systemEnv({ level: 'silent' })
    const called: string[] = []
    env.after(1, () => called.push('ended'))()
    await new Promise<void>((resolve) => {
      const end = env.every(1, () => {
        if (called.push('every') === 3) resolve(end())
      })
    })
    await new Promise<void>((resolve) => void env.after(5, resolve))
    expect(called).toEqual(['every', 'every', 'every'])
  })

  it('writes JSON lines with name, details, and errors with their causes', () => {
    const lines = written({ name: 'worker 1' }, `
      log.debug('Too little.')
      const error = new Error('so', { cause: new Error('why') })
      log.child({ shard: 3 }).warn('It broke.', { error })`)
    expect(JSON.parse(lines)).toMatchObject({
      level: 'warn',
      name: 'worker 1',
      message: 'It broke.',
      shard: 3,
      error: { message: 'so', stack: expect.stringContaining(' at '), cause: { message: 'why' } },
    })
  })

  it('writes lines for people if it is pretty', () => {
    const lines = written({ pretty: true }, `
      log.info('It stands.', { port: 2024 })
      log.error('It broke.', { error: new Error('so', { cause: new Error('why') }) })`)
    expect(lines).toMatch(/^\d\d:\d\d:\d\d info {2}It stands\. {2}port=2024\n/)
    expect(lines).toMatch(/error It broke\.\nError: so\n +at [^]*because of\nError: why/)
  })

  it('logs what libraries print and what Node.js warns of', () => {
    const lines = written({}, `
      const { consoleToLog } = await import('${door}')
      consoleToLog(log)
      console.error('handler for %s failed', 'GetRun', new Error('write ECANCELED'))
      process.emitWarning('It is old.')`)
    expect(lines.trim().split('\n').map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({
        level: 'warn',
        message: 'A library wrote to the console.',
        text: expect.stringMatching(/^handler for GetRun failed Error: write ECANCELED\n +at /),
      }),
      expect.objectContaining({
        level: 'warn',
        message: 'Node.js warns.',
        error: expect.objectContaining({ name: 'Warning', message: 'It is old.' }),
      }),
    ])
  })

  it('logs no object that a library hung on an error, for one has the key of a caller', () => {
    const lines = written({}, `
      const { consoleToLog } = await import('${door}')
      consoleToLog(log)
      const request = { headers: { 'x-api-key': 'secret' } }
      process.emitWarning(Object.assign(new Error('Many.'), { emitter: request, count: 11 }))
      const cause = Object.assign(new Error('why'), { socket: request, code: 'ECONNRESET' })
      log.error('It broke.', { error: new Error('so', { cause }) })
      log.error('All.', { error: new AggregateError([cause], 'both') })`)
    expect(lines).not.toContain('secret')
    const all = lines.trim().split('\n').map((line) => JSON.parse(line))
    expect(all.find(({ message }) => message === 'Node.js warns.').error)
      .toMatchObject({ message: 'Many.', count: 11 })
    expect(all.find(({ message }) => message === 'It broke.').error.cause)
      .toMatchObject({ message: 'why', code: 'ECONNRESET' })
  })

  it('writes from a worker thread', () => {
    const within = `import('${door}').then((cluster) =>
      cluster.systemEnv({ name: 'within' }).log.info('It stands.'))`
    const lines = written({}, `
      const { Worker } = await import('node:worker_threads')
      new Worker(${JSON.stringify(within)}, { eval: true })`)
    expect(JSON.parse(lines)).toMatchObject({ name: 'within', message: 'It stands.' })
  })

  it('continues if the disk of its console is full, and later writes what did not fit', () => {
    const folder = mkdtempSync(join(tmpdir(), 'heddle-console-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const file = join(folder, 'console')
    const node = command({}, `
      import { truncateSync } from 'node:fs'
      for (const line of ['It is long.', 'It does not fit.']) log.info('x'.repeat(3_000) + line)
      truncateSync('${file}')
      log.info('There is room again.')`)
    const small = ['-c', `ulimit -f 4 && exec "$@" 2>> '${file}'`, 'bash', ...node]
    expect(spawnSync('bash', small).status).toBe(0)
    expect(readFileSync(file, 'utf8')).toMatch(/It does not fit[^]*There is room again/)
  })
})
