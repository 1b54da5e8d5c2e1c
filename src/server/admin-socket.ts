/**
 * Operator commands on a data directory while a server runs on it: over a socket in the directory,
 * for its owner only. A line of JSON each way: `{do, with}`, then `{done}` or `{error}`.
 */

import { existsSync, rmSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

import { within } from '../../cluster/index.ts'
import type { Env } from '../../cluster/index.ts'
import type { KeyDesk, KeyWish } from '../access/index.ts'
import type { BillingQuery, BillingTable } from '../billing/index.ts'
import { HeddleError, isErrorCode } from '../errors.ts'

const socketName = 'heddle.sock'

/** The system truncates longer paths of sockets. */
const pathBytesMax = 103

/** Clients send their request at once, and a live server answers by then. */
const patienceMs = 10_000

/** What operator commands use. */
export interface OfficeDesks {
  readonly desk: KeyDesk
  readonly billing: BillingTable
}

export interface OfficeSocketParts extends OfficeDesks {
  readonly directory: string
  readonly env: Env
}

export interface OfficeSocket {
  close(): Promise<void>
}

type Request =
  | { readonly do: 'create'; readonly with: KeyWish }
  | { readonly do: 'list'; readonly with: string | null }
  | { readonly do: 'revoke'; readonly with: string }
  | { readonly do: 'billing'; readonly with: BillingQuery }

interface Answer {
  readonly done?: unknown
  readonly error?: { readonly code: string; readonly sentence: string }
}

/** Undefined if there can be no such socket here: the server runs without it. */
export async function openOfficeSocket({ directory, env, ...desks }: OfficeSocketParts):
Promise<OfficeSocket | undefined> {
  const path = join(directory, socketName)
  const open = new Set<Socket>()
  const server = createServer((socket) => {
    open.add(socket)
    const stopWaiting = env.after(patienceMs, () => socket.destroy())
    socket.on('error', () => socket.destroy()).on('close', () => {
      stopWaiting()
      open.delete(socket)
    })
    createInterface({ input: socket }).once('line', (line) => {
      stopWaiting()
      void answerTo(line, desks, env).then((answer) => socket.end(`${JSON.stringify(answer)}\n`))
    }).on('error', () => socket.destroy())
  })
  try {
    mustFit(path)
    rmSync(path, { force: true })
    await listen(server, path)
  } catch (error) {
    env.log.warn('The commands keys and billing work only while this server is stopped: there is ' +
      'no socket for them in the data directory.', { reason: (error as Error).message })
    return undefined
  }
  return {
    close: () => new Promise((closed) => {
      for (const socket of open) socket.destroy()
      server.close(() => closed())
    }),
  }
}

/**
 * The desks of the server that runs on a directory; undefined if none does. They throw
 * `unavailable` if it does not answer.
 */
export async function reachOffice({ directory, env }: Pick<OfficeSocketParts, 'directory' | 'env'>):
Promise<OfficeDesks | undefined> {
  const path = join(directory, socketName)
  if (!existsSync(path)) return undefined
  const first = await dial(path)
  if (first === undefined) return undefined
  first.destroy()
  const ask = async (request: Request) => {
    const socket = await dial(path)
    if (socket === undefined) throw gone()
    try {
      return await within(env, patienceMs, answerOver(socket, request), hangs)
    } finally {
      socket.destroy()
    }
  }
  const desk: KeyDesk = {
    create: async (wish) => await ask({ do: 'create', with: wish }) as
      Awaited<ReturnType<KeyDesk['create']>>,
    list: async (tenant) => await ask({ do: 'list', with: tenant ?? null }) as
      Awaited<ReturnType<KeyDesk['list']>>,
    revoke: async (id) => await ask({ do: 'revoke', with: id }) as
      Awaited<ReturnType<KeyDesk['revoke']>>,
  }
  const billing: BillingTable = {
    page: async (query) => await ask({ do: 'billing', with: query }) as
      Awaited<ReturnType<BillingTable['page']>>,
  }
  return { desk, billing }
}

/** With a umask, so that only the owner can connect, from the first moment on. */
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

function mustFit(path: string): void {
  if (process.platform === 'win32') throw new Error('not offered on Windows')
  if (Buffer.byteLength(path) <= pathBytesMax) return
  throw new Error(`the path ${path} is too long for a socket`)
}

async function answerTo(line: string, { desk, billing }: OfficeDesks, env: Env): Promise<Answer> {
  try {
    const request = JSON.parse(line) as Request
    switch (request.do) {
      case 'create': return { done: await desk.create(request.with) }
      case 'list': return { done: await desk.list(request.with ?? undefined) }
      case 'revoke': return { done: await desk.revoke(request.with) }
      case 'billing': return { done: await billing.page(request.with) }
      default: throw new HeddleError('unsupported', 'The server that has this data directory ' +
        'does not know what was asked, for it is of another version: end it first.')
    }
  } catch (caught) {
    const { code, message } = HeddleError.from(caught)
    if (code === 'internal') env.log.error('An operator could not be answered.', { error: caught })
    return { error: { code, sentence: message } }
  }
}

function dial(path: string): Promise<Socket | undefined> {
  return new Promise((found) => {
    const socket = connect(path, () => found(socket))
    socket.once('error', () => found(undefined))
  })
}

async function answerOver(socket: Socket, request: Request): Promise<unknown> {
  socket.write(`${JSON.stringify(request)}\n`)
  const line = await new Promise<string>((heard, failed) => {
    // The interface emits the errors of the socket, too.
    createInterface({ input: socket }).once('line', heard).on('error', () => failed(gone()))
    socket.once('close', () => failed(gone())).once('error', () => failed(gone()))
  })
  const { done, error } = JSON.parse(line) as Answer
  if (error === undefined) return done
  throw new HeddleError(isErrorCode(error.code) ? error.code : 'internal', error.sentence)
}

function hangs(): HeddleError {
  return new HeddleError('unavailable', 'The server that has this data directory does not ' +
    'answer: it hangs or has too much to do; try again, or end it first.')
}

function gone(): HeddleError {
  return new HeddleError('unavailable', 'The server that has this data directory ended just now; ' +
    'try again.')
}
