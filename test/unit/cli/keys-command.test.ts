/** The command that manages keys: with a running server on the data directory, and without one. */

import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync,
  writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'

import { runKeysCommand } from '../../../src/cli/keys-command.ts'
import { heddle } from '../../support/command.ts'
import { serveDirectory } from './served-directory.ts'
import type { ServedDirectory } from './served-directory.ts'

const data = mkdtempSync(join(tmpdir(), 'heddle-keys-'))
afterAll(() => rmSync(data, { recursive: true }))

const socket = join(data, 'heddle.sock')
const secretFile = join(data, 'heddle.sock-secret')

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

/** Leaves a socket to which nobody listens. */
async function leaveSocket(path: string): Promise<void> {
  const server = createServer().listen(`${path}-made`)
  await once(server, 'listening')
  renameSync(`${path}-made`, path)
  await new Promise((closed) => server.close(closed))
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
    expect(await printed(['create', '--data', data, '--tenant', 'eu', '--region', 'eu']))
      .toMatch(/^hdl_eu_[0-9a-f]{16}_[\w-]{43}\n$/)
  })

  it('prints one sentence after a mistake, and ends with exit code 2', async () => {
    expect(await keys('revoke')).toEqual({ status: 2, stdout: '',
      stderr: "heddle: missing required argument 'id'; see keys --help\n" })
  })

  it.each(['list', 'revoke 0123456789abcdef'])('creates no directory for "%s"', async (command) => {
    const nowhere = join(data, 'nowhere')
    await expect(printed([...command.split(' '), '--data', nowhere])).rejects
      .toThrow(`There is no data directory ${nowhere}: name the one of the server.`)
    expect(existsSync(nowhere)).toBe(false)
  })

  it('ignores the socket of a killed server', async () => {
    await leaveSocket(socket)
    expect(await printed(['list', '--data', data])).toContain('of ann')
    expect(existsSync(socket)).toBe(true)
  })
})

// The socket of the killed one is still there.
describe('the command "keys", while a server uses the directory,', () => {
  let server: ServedDirectory
  beforeAll(async () => {
    server = await serveDirectory(data)
  })
  afterAll(async () => {
    await server.close()
    expect(existsSync(socket)).toBe(false)
    expect(existsSync(secretFile)).toBe(false)
  })

  it('creates, lists and revokes keys through its socket', async () => {
    expect(statSync(socket).mode & 0o777).toBe(0o600)
    const { id } = await made('--tenant', 'acme', '--name', 'second')
    expect((await server.store.keys.list('acme')).map((key) => key.id)).toContain(id)
    const listed = JSON.parse(
      await printed(['list', '--data', data, '--json', '--tenant', 'acme']),
    ) as object[]
    expect(listed).toEqual([expect.objectContaining({ id, name: 'second', usedAtMs: null }),
      expect.objectContaining({ name: 'of ann' })])
    expect(JSON.stringify(listed)).not.toMatch(/hash|hdl_/)
    expect(await printed(['list', '--data', data, '--tenant', 'nobody']))
      .toBe('There are no keys.\n')
    const secret = readFileSync(secretFile, 'utf8')
    expect(await saidBy(socket, JSON.stringify({ do: 'lose', secret }))).toEqual({
      error: { code: 'unsupported',
        message: expect.stringMatching(/another version: end it first\.$/) },
    })
    expect((await keys('revoke', id, '--data', data)).status).toBe(0)
    expect(await printed(['list', '--data', data])).toMatch(/revoked/)
    expect(await server.store.keys.list('acme')).toContainEqual(
      expect.objectContaining({ id, revokedAtMs: expect.any(Number) }),
    )
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

  it('keeps the secret of the server in a file that only its owner can read', () => {
    expect(statSync(secretFile).mode & 0o777).toBe(0o600)
    expect(readFileSync(secretFile, 'utf8')).toMatch(/^[\w-]{43}$/)
  })

  it.each([
    ['no secret', {}],
    ['another secret', { secret: 'x'.repeat(43) }],
    ['a secret that is no text', { secret: { length: 43 } }],
  ])('creates no key for a request with %s', async (_, sent) => {
    const before = (await server.store.keys.list('acme')).length
    const create = { do: 'create', with: { tenant: 'acme', role: 'admin' } }
    expect(await saidBy(socket, JSON.stringify({ ...create, ...sent }))).toEqual({
      error: { code: 'forbidden',
        message: expect.stringContaining('heddle.sock-secret') as string },
    })
    expect(await server.store.keys.list('acme')).toHaveLength(before)
  })

  it('closes a connection that sends more than a request has', async () => {
    const admin = connect(socket)
    admin.on('error', () => {})
    admin.write('x'.repeat(2 * 1024 * 1024))
    await new Promise((closed) => admin.once('close', closed))
  })

  it('rejects the secret of an earlier start with one sentence', async () => {
    const secret = readFileSync(secretFile, 'utf8')
    writeFileSync(secretFile, 'y'.repeat(43))
    try {
      await expect(printed(['list', '--data', data])).rejects.toThrow(
        /^The request does not have the secret of the running server, .* the server has\.$/,
      )
    } finally {
      writeFileSync(secretFile, secret)
    }
  })

  it('ignores settings that only concern servers', async () => {
    const text = await printed(['list', '--data', data], { HEDDLE_TRUSTED_PROXIES: 'nonsense',
      PORT: 'x', HEDDLE_HOST: '0.0.0.0', HEDDLE_BILLING: 'on', HEDDLE_REGION: 'eu',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://x', OTEL_TRACES_SAMPLER: 'traceidratio',
      OTEL_TRACES_SAMPLER_ARG: 'x' })
    expect(text).toContain('acme')
  })
})

it('The command "keys" gives up on a server that does not answer, after ten seconds.', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'heddle-hung-'))
  const asked = Promise.withResolvers<void>()
  const server = createServer((connection) => connection.on('data', () => asked.resolve()))
  server.listen(join(folder, 'heddle.sock'))
  await once(server, 'listening')
  onTestFinished(() => {
    vi.useRealTimers()
    server.close()
    rmSync(folder, { recursive: true })
  })
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const answered = vi.fn<(message: string) => void>()
  const answer = printed(['list', '--data', folder]).catch(({ message }: Error) => message)
    .then(answered)
  await asked.promise
  await vi.advanceTimersByTimeAsync(9_900)
  expect(answered).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(200)
  await answer
  expect(answered).toHaveBeenCalledWith(
    expect.stringMatching(/^The server .* does not answer: .+$/),
  )
})
