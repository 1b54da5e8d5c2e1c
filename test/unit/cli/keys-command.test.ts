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
import { startServer } from '../../support/server-process.ts'
import { tookMs } from '../../support/stillness.ts'
import { ask } from '../../support/wire.ts'

const data = mkdtempSync(join(tmpdir(), 'heddle-keys-'))
afterAll(() => rmSync(data, { recursive: true }))

const keys = (...args: readonly string[]) => heddle('keys', ...args)

const made = async (...args: readonly string[]) =>
  JSON.parse((await keys('create', '--data', data, '--json', ...args)).stdout) as { key: string;
    id: string }

/** The answer of the server's key socket to one line. */
async function saidBy(socket: string, line: string): Promise<unknown> {
  const admin = connect(socket)
  admin.write(`${line}\n`)
  return JSON.parse(await text(admin)) as unknown
}

describe('the command "keys"', () => {
  it('has help for each of its commands', async () => {
    expect((await keys('--help')).stdout).toMatch(/create[^]*list[^]*revoke/)
    expect((await keys('create', '--help')).stdout).toMatch(/--tenant[^]*--role[^]*--expires-in/)
    expect((await keys('revoke', '--help')).stdout).toMatch(/<id>[^]*--data/)
  })

  it('creates a key, shows it once, and lists it without its text', async () => {
    const { key, id } = await made('--tenant', 'acme', '--role', 'reader', '--name', 'of ann')
    expect(key).toMatch(/^hdl_us_[0-9a-f]{16}_[\w-]{43}$/)
    const { stdout } = await keys('list', '--data', data)
    expect(stdout).toMatch(new RegExp(`${id} +acme +reader +of ann +.* +never +for ever\\n`))
    expect(stdout).not.toContain(key.slice(-43))
    const listed = JSON.parse(
      (await keys('list', '--data', data, '--json', '--tenant', 'acme')).stdout,
    ) as object[]
    expect(listed).toEqual([expect.objectContaining({ id, name: 'of ann', usedAtMs: null })])
    expect(JSON.stringify(listed)).not.toMatch(/hash|hdl_/)
    expect((await keys('list', '--data', data, '--tenant', 'nobody')).stdout)
      .toBe('There are no keys.\n')
    expect((await keys('create', '--data', data, '--tenant', 'acme', '--region', 'eu')).stdout)
      .toMatch(/^hdl_eu_[0-9a-f]{16}_[\w-]{43}\n$/)
  })

  it.each([
    [['create'], /^heddle: required option '--tenant <name>' not specified; see keys --help\n$/],
    [['create', '--tenant', 'a b'], /^heddle: The name of a tenant .*\.\n$/],
    [['create', '--tenant', 'a', '--role', 'root'], /^heddle: .*'root' is invalid.*\n$/],
    [['create', '--tenant', 'a', '--expires-in', 'soon'], /^heddle: --expires-in .* "soon"\.\n$/],
    [['create', '--tenant', 'a', '--region', 'mars'], /^heddle: --region .* "mars"\.\n$/],
    [['revoke', '0123456789abcdef'], /^heddle: There is no key 0123456789abcdef; .*\.\n$/],
    [['revoke'], /^heddle: missing required argument 'id'; see keys --help\n$/],
    [['lose'], /^heddle: unknown command 'lose'.*; see keys --help\n$/],
    [[], /^heddle: say what about the keys: .*\n$/],
    [['create', '--tenant', 'a', '--data', '/dev/null/x'],
      /^heddle: The data directory .* cannot be made\..*\n$/],
  ])('answers %j with one sentence and exit code 1', async (args, message) => {
    const where = args.length === 0 || args.includes('--data') ? [] : ['--data', data]
    const { status, stdout, stderr } = await keys(...args, ...where)
    expect([status, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(message)
  })

  it.each(['list', 'revoke 0123456789abcdef'])('creates no directory for "%s"', async (command) => {
    const nowhere = join(data, 'nowhere')
    const { status, stderr } = await keys(...command.split(' '), '--data', nowhere)
    expect([status, stderr]).toEqual([1,
      `heddle: There is no data directory ${nowhere}: name the one of the server.\n`])
    expect(existsSync(nowhere)).toBe(false)
  })

  it('ignores settings that only concern servers', async () => {
    let printed = ''
    await runKeysCommand({ args: ['list', '--data', data], folder: data, starter: data,
      environment: { HEDDLE_TRUSTED_PROXIES: 'nonsense', PORT: 'x', HEDDLE_HOST: '0.0.0.0',
        HEDDLE_BILLING: 'on', HEDDLE_REGION: 'eu', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://x',
        OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: 'x' }, print: (text) => {
        printed += text
      } })
    expect(printed).toContain('acme')
  })

  it('works while a server uses the directory, and revokes within five seconds', async () => {
    const { key: before } = await made('--tenant', 'acme')
    const server = await startServer({ dataDir: data, args: ['--auth', 'keys'] })
    const socket = join(data, 'heddle.sock')
    const statusWith = async (key: string) =>
      (await ask(server.url, 'POST', '/threads/search', {}, { 'x-api-key': key })).status
    try {
      expect(statSync(socket).mode & 0o777).toBe(0o600)
      expect(await statusWith(before)).toBe(200)
      const { key, id } = await made('--tenant', 'acme')
      expect(await statusWith(key)).toBe(200)
      expect((await keys('list', '--data', data)).stdout).toContain(id)
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
      expect((await keys('list', '--data', data)).stdout).toContain(id)
      await server.restart()
      expect([await statusWith(before), await statusWith(key)]).toEqual([200, 401])
      expect((await keys('list', '--data', data)).stdout).toMatch(/revoked/)
    } finally {
      await server.kill('SIGTERM')
    }
    expect(existsSync(socket)).toBe(false)
  })

  it('gives up on a server that does not answer', async () => {
    const hung = mkdtempSync(join(tmpdir(), 'heddle-hung-'))
    const server = createServer(() => {}).listen(join(hung, 'heddle.sock'))
    await once(server, 'listening')
    const beganMs = performance.now()
    const { status, stderr } = await keys('list', '--data', hung)
    expect([status, stderr]).toEqual([1,
      expect.stringMatching(/^heddle: The server .* does not answer: .+\n$/)])
    expect(performance.now() - beganMs).toBeGreaterThan(9_000)
    expect(tookMs(beganMs)).toBeLessThan(20_000)
    server.close()
    rmSync(hung, { recursive: true })
  })
})
