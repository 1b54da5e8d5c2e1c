/** The command that manages keys: with a running server on the data directory, and without one. */

import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

import { afterAll, describe, expect, it } from 'vitest'

import { runKeysCommand } from '../../../src/cli/keys-command.ts'
import { heddle } from '../../support/command.ts'
import { oneWorker, startServer } from '../../support/server-process.ts'
import { tookMs } from '../../support/stillness.ts'
import { ask } from '../../support/wire.ts'

const data = mkdtempSync(join(tmpdir(), 'heddle-keys-'))
afterAll(() => rmSync(data, { recursive: true }))

const keys = (...args: readonly string[]) => heddle('keys', ...args)

/** What the command prints, in this process. Throws what it refuses with. */
async function printed(args: readonly string[],
  environment: NodeJS.ProcessEnv = {}): Promise<string> {
  let text = ''
  await runKeysCommand({ args, folder: data, starter: data, environment, print: (more) => {
    text += more
  } })
  return text
}

const made = async (...args: readonly string[]) =>
  JSON.parse((await keys('create', '--data', data, '--json', ...args)).stdout) as { key: string;
    id: string }

/** A command that waits for a server that does not answer: begun at once, since it takes 10 s. */
const hung = refusalOfHung()

/** Its message, and after how many milliseconds it came. */
async function refusalOfHung(): Promise<{ message: string; afterMs: number; tookMs: number }> {
  const folder = mkdtempSync(join(tmpdir(), 'heddle-hung-'))
  const server = createServer(() => {}).listen(join(folder, 'heddle.sock'))
  await once(server, 'listening')
  const beganMs = performance.now()
  try {
    const message = await printed(['list', '--data', folder]).catch(({ message }: Error) => message)
    return { message, afterMs: performance.now() - beganMs, tookMs: tookMs(beganMs) }
  } finally {
    server.close()
    rmSync(folder, { recursive: true })
  }
}

/** The answer of the server's key socket to one line. */
async function saidBy(socket: string, line: string): Promise<unknown> {
  const admin = connect(socket)
  admin.write(`${line}\n`)
  return JSON.parse(await text(admin)) as unknown
}

describe('the command "keys"', () => {
  it('has help for each of its commands', async () => {
    expect((await keys('--help')).stdout).toMatch(/create[^]*list[^]*revoke/)
    expect(await printed(['create', '--help'])).toMatch(/--tenant[^]*--role[^]*--expires-in/)
    expect(await printed(['revoke', '--help'])).toMatch(/<id>[^]*--data/)
  })

  it('creates a key, shows it once, and lists it without its text', async () => {
    const { key, id } = await made('--tenant', 'acme', '--role', 'reader', '--name', 'of ann')
    expect(key).toMatch(/^hdl_us_[0-9a-f]{16}_[\w-]{43}$/)
    const { stdout } = await keys('list', '--data', data)
    expect(stdout).toMatch(new RegExp(`${id} +acme +reader +of ann +.* +never +for ever\\n`))
    expect(stdout).not.toContain(key.slice(-43))
    const listed = JSON.parse(
      await printed(['list', '--data', data, '--json', '--tenant', 'acme']),
    ) as object[]
    expect(listed).toEqual([expect.objectContaining({ id, name: 'of ann', usedAtMs: null })])
    expect(JSON.stringify(listed)).not.toMatch(/hash|hdl_/)
    expect(await printed(['list', '--data', data, '--tenant', 'nobody']))
      .toBe('There are no keys.\n')
    expect(await printed(['create', '--data', data, '--tenant', 'acme', '--region', 'eu']))
      .toMatch(/^hdl_eu_[0-9a-f]{16}_[\w-]{43}\n$/)
  })

  it.each([
    [['create'], /^required option '--tenant <name>' not specified; see keys --help$/],
    [['create', '--tenant', 'a b'], /^The name of a tenant .*\.$/],
    [['create', '--tenant', 'a', '--role', 'root'], /'root' is invalid/],
    [['create', '--tenant', 'a', '--expires-in', 'soon'], /^--expires-in .* "soon"\.$/],
    [['create', '--tenant', 'a', '--region', 'mars'], /^--region .* "mars"\.$/],
    [['revoke', '0123456789abcdef'], /^There is no key 0123456789abcdef; .*\.$/],
    [['revoke'], /^missing required argument 'id'; see keys --help$/],
    [['lose'], /^unknown command 'lose'.*; see keys --help$/],
    [[], /^say what about the keys: .*$/],
    [['create', '--tenant', 'a', '--data', '/dev/null/x'],
      /^The data directory .* cannot be made\..*$/],
  ])('answers %j with one sentence', async (args, message) => {
    const where = args.length === 0 || args.includes('--data') ? [] : ['--data', data]
    await expect(printed([...args, ...where])).rejects.toMatchObject({ name: 'CommandError',
      message: expect.stringMatching(message) })
  })

  it('prints that sentence and ends with exit code 2', async () => {
    expect(await keys('revoke')).toEqual({ status: 2, stdout: '',
      stderr: "heddle: missing required argument 'id'; see keys --help\n" })
  })

  it.each(['list', 'revoke 0123456789abcdef'])('creates no directory for "%s"', async (command) => {
    const nowhere = join(data, 'nowhere')
    await expect(printed([...command.split(' '), '--data', nowhere])).rejects
      .toThrow(`There is no data directory ${nowhere}: name the one of the server.`)
    expect(existsSync(nowhere)).toBe(false)
  })

  it('ignores settings that only concern servers', async () => {
    const text = await printed(['list', '--data', data], { HEDDLE_TRUSTED_PROXIES: 'nonsense',
      PORT: 'x', HEDDLE_HOST: '0.0.0.0', HEDDLE_BILLING: 'on', HEDDLE_REGION: 'eu',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://x', OTEL_TRACES_SAMPLER: 'traceidratio',
      OTEL_TRACES_SAMPLER_ARG: 'x' })
    expect(text).toContain('acme')
  })

  it('works while a server uses the directory, and revokes within five seconds', async () => {
    const { key: before } = await made('--tenant', 'acme')
    const server = await startServer({ dataDir: data, args: ['--auth', 'keys', ...oneWorker] })
    const socket = join(data, 'heddle.sock')
    const statusWith = async (key: string) =>
      (await ask(server.url, 'POST', '/threads/search', {}, { 'x-api-key': key })).status
    try {
      expect(statSync(socket).mode & 0o777).toBe(0o600)
      expect(await statusWith(before)).toBe(200)
      const { key, id } = await made('--tenant', 'acme')
      expect(await statusWith(key)).toBe(200)
      expect(await printed(['list', '--data', data])).toContain(id)
      expect(await saidBy(socket, '{"do":"lose"}')).toEqual({
        error: { code: 'unsupported',
          message: expect.stringMatching(/another version: end it first\.$/) },
      })
      expect((await keys('revoke', id, '--data', data)).status).toBe(0)
      const revokedMs = performance.now()
      await expect.poll(() => statusWith(key)).toBe(401)
      expect(tookMs(revokedMs)).toBeLessThan(5_000)
      expect(await statusWith(before)).toBe(200)
      // The socket of a killed server disturbs neither the command nor the next server.
      await server.kill('SIGKILL')
      expect(existsSync(socket)).toBe(true)
      expect(await printed(['list', '--data', data])).toContain(id)
      await server.restart()
      expect([await statusWith(before), await statusWith(key)]).toEqual([200, 401])
      expect(await printed(['list', '--data', data])).toMatch(/revoked/)
    } finally {
      await server.kill('SIGTERM')
    }
    expect(existsSync(socket)).toBe(false)
  })

  it('gives up on a server that does not answer', async () => {
    const { message, ...times } = await hung
    expect(message).toMatch(/^The server .* does not answer: .+$/)
    expect(times.afterMs).toBeGreaterThan(9_000)
    expect(times.tookMs).toBeLessThan(20_000)
  })
})
