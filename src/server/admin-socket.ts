/**
 * Operator commands on a data directory while a server runs on it. They use a socket in the
 * directory, for its owner only. A line of JSON goes each way: `{do, with, secret}`, then `{done}`
 * or `{error}`.
 */

import { existsSync, rmSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

import { withTimeout } from '../../cluster/index.ts'
import type { Env } from '../../cluster/index.ts'
import type { KeyAdmin, KeyRequest } from '../access/index.ts'
import type { BillingQuery, BillingTable } from '../billing/index.ts'
import { HeddleError, isErrorCode, messageOf } from '../errors.ts'
import type { RevisionsAdmin, RevisionsRequest } from './deployments/revisions-admin.ts'
import { readAdminSecret, writeAdminSecret } from './operator/admin-secret.ts'
import type { AdminSecret } from './operator/admin-secret.ts'
import type { SecretsAdmin } from './secrets-admin.ts'

const socketName = 'heddle.sock'

/** Bytes of a socket's path. The system truncates longer ones. */
const pathBytesMax = 103

/** Time for a request and its answer. Clients send at once, and a live server answers by then. */
const patienceMs = 10_000

/** Bytes of a request. A connection that sends more is closed. */
const requestBytesMax = 1024 * 1024

/** Ports of operator commands, over the socket of a running server or over the store itself. */
export interface AdminPorts {
  readonly keyAdmin: KeyAdmin
  readonly billing: BillingTable
  readonly secrets: SecretsAdmin
  readonly revisions: RevisionsAdmin
}

/** Directory of the socket, and the ports that it offers. */
export interface AdminSocketParts extends AdminPorts {
  readonly directory: string
  /** URL at which the server answers clients; undefined if it answers none. */
  readonly url?: string | undefined
  readonly env: Env
}

/** A socket that accepts commands until it is closed. */
export interface AdminSocket {
  close(): Promise<void>
}

type Request =
  | { readonly do: 'create'; readonly with: KeyRequest }
  | { readonly do: 'list'; readonly with: string | null }
  | { readonly do: 'revoke'; readonly with: string }
  | { readonly do: 'billing'; readonly with: BillingQuery }
  | { readonly do: 'secrets'; readonly with: { readonly rekey: boolean } }
  | { readonly do: 'revisions'; readonly with: RevisionsRequest }
  | { readonly do: 'url' }

/** A request as it is sent. An older command sends no secret. */
type SentRequest = Request & { readonly secret?: string | undefined }

interface Answer {
  readonly done?: unknown
  readonly error?: { readonly code: string; readonly message: string }
}

/** Opens the socket; undefined if there can be none here. The server then runs without it. */
export async function openAdminSocket(
  { directory, url, env, ...ports }: AdminSocketParts,
): Promise<AdminSocket | undefined> {
  const path = join(directory, socketName)
  const open = new Set<Socket>()
  let secret: AdminSecret | undefined
  const server = createServer((socket) => {
    open.add(socket)
    let bytes = 0
    socket.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > requestBytesMax) socket.destroy()
    })
    const stopWaiting = env.after(patienceMs, () => socket.destroy())
    socket.on('error', () => socket.destroy()).on('close', () => {
      stopWaiting()
      open.delete(socket)
    })
    createInterface({ input: socket }).once('line', (line) => {
      stopWaiting()
      void answerTo(line, { ...ports, url, secret: secret! }, env)
        .then((answer) => socket.end(`${JSON.stringify(answer)}\n`))
    }).on('error', () => socket.destroy())
  })
  try {
    requireFit(path)
    rmSync(path, { force: true })
    secret = writeAdminSecret(directory, env)
    await listen(server, path)
  } catch (error) {
    secret?.close()
    env.log.warn('The commands keys and billing work only while this server is stopped: there is ' +
      'no socket for them in the data directory.', { reason: messageOf(error) })
    return undefined
  }
  return {
    close: () =>
      new Promise((closed) => {
        for (const socket of open) socket.destroy()
        secret.close()
        server.close(() => closed())
      }),
  }
}

/** Answers by request: each is that of the port that the request is for. */
interface Answers {
  readonly create: Awaited<ReturnType<KeyAdmin['create']>>
  readonly list: Awaited<ReturnType<KeyAdmin['list']>>
  readonly revoke: Awaited<ReturnType<KeyAdmin['revoke']>>
  readonly billing: Awaited<ReturnType<BillingTable['page']>>
  readonly secrets: Awaited<ReturnType<SecretsAdmin['survey']>>
  readonly revisions: Awaited<ReturnType<RevisionsAdmin['survey']>>
  readonly url: string | null
}

type Asking = <Asked extends Request>(request: Asked) => Promise<Answers[Asked['do']]>

/**
 * The ports of the server that runs on a directory; undefined if none does. They throw
 * `unavailable` if it does not answer.
 */
export async function reachAdminSocket(
  { directory, env }: Pick<AdminSocketParts, 'directory' | 'env'>,
): Promise<AdminPorts | undefined> {
  const ask = await asking(directory, env)
  if (ask === undefined) return undefined
  const keyAdmin: KeyAdmin = {
    create: (options) => ask({ do: 'create', with: options }),
    list: (tenant) => ask({ do: 'list', with: tenant ?? null }),
    revoke: (id) => ask({ do: 'revoke', with: id }),
  }
  const billing: BillingTable = {
    page: (query) => ask({ do: 'billing', with: query }),
  }
  const secrets: SecretsAdmin = {
    survey: (options) => ask({ do: 'secrets', with: options }),
  }
  const revisions: RevisionsAdmin = {
    survey: (options) => ask({ do: 'revisions', with: options }),
  }
  return { keyAdmin, billing, secrets, revisions }
}

/**
 * URL at which the server that runs on a directory answers clients; undefined if none does. Throws
 * `unavailable` if it does not answer, and `unsupported` if its version cannot say.
 */
export async function servedUrl(
  { directory, env }: Pick<AdminSocketParts, 'directory' | 'env'>,
): Promise<string | undefined> {
  const ask = await asking(directory, env)
  return await ask?.({ do: 'url' }) ?? undefined
}

/** Asks the server that runs on a directory; undefined if none does. */
async function asking(directory: string, env: Env): Promise<Asking | undefined> {
  const path = join(directory, socketName)
  if (!existsSync(path)) return undefined
  const first = await dial(path)
  if (first === undefined) return undefined
  first.destroy()
  return async <Asked extends Request>(request: Asked) => {
    const secret = await readAdminSecret(directory)
    const socket = await dial(path)
    if (socket === undefined) throw gone()
    try {
      return await withTimeout(env, patienceMs, answerOver(socket, { ...request, secret }),
        hangs) as Answers[Asked['do']]
    } finally {
      socket.destroy()
    }
  }
}

/** Listens with a umask, so that only the owner can connect, from the first moment on. */
function listen(server: ReturnType<typeof createServer>, path: string): Promise<void> {
  return new Promise((listening, failed) => {
    server.once('error', failed)
    const before = process.umask(0o177)
    try {
      server.listen(path, listening)
    } finally {
      process.umask(before)
    }
  })
}

function requireFit(path: string): void {
  if (process.platform === 'win32') throw new Error('not offered on Windows')
  if (Buffer.byteLength(path) <= pathBytesMax) return
  throw new Error(`the path ${path} is too long for a socket`)
}

async function answerTo(line: string, { keyAdmin, billing, secrets, revisions, url, secret }:
  & AdminPorts
  & Pick<AdminSocketParts, 'url'>
  & { readonly secret: AdminSecret }, env: Env): Promise<Answer> {
  try {
    const request = JSON.parse(line) as SentRequest
    secret.require(request.secret)
    switch (request.do) {
      case 'create':
        return { done: await keyAdmin.create(request.with) }
      case 'list':
        return { done: await keyAdmin.list(request.with ?? undefined) }
      case 'revoke':
        return { done: await keyAdmin.revoke(request.with) }
      case 'billing':
        return { done: await billing.page(request.with) }
      case 'secrets':
        return { done: await secrets.survey(request.with) }
      case 'revisions':
        return { done: await revisions.survey(request.with) }
      case 'url':
        return { done: url ?? null }
      default:
        throw new HeddleError('unsupported', 'The server that has this data directory ' +
          'does not know what was asked, for it is of another version: end it first.')
    }
  } catch (caught) {
    const { code, message } = HeddleError.from(caught)
    if (code === 'internal') env.log.error('An operator could not be answered.', { error: caught })
    return { error: { code, message: message } }
  }
}

function dial(path: string): Promise<Socket | undefined> {
  return new Promise((found) => {
    const socket = connect(path, () => found(socket))
    socket.once('error', () => found(undefined))
  })
}

async function answerOver(socket: Socket, request: SentRequest): Promise<unknown> {
  socket.write(`${JSON.stringify(request)}\n`)
  const line = await new Promise<string>((received, failed) => {
    // The interface emits the errors of the socket, too.
    createInterface({ input: socket }).once('line', received).on('error', () => failed(gone()))
    socket.once('close', () => failed(gone())).once('error', () => failed(gone()))
  })
  const { done, error } = JSON.parse(line) as Answer
  if (error === undefined) return done
  throw new HeddleError(isErrorCode(error.code) ? error.code : 'internal', error.message)
}

function hangs(): HeddleError {
  return new HeddleError('unavailable', 'The server that has this data directory does not ' +
    'answer: it hangs or has too much to do; try again, or end it first.')
}

function gone(): HeddleError {
  return new HeddleError('unavailable', 'The server that has this data directory ended just now; ' +
    'try again.')
}
