/** The port of an app thread: requests for the app, and questions to the login. */

import { timingSafeEqual } from 'node:crypto'
import { EventEmitter, once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

import { memberOf } from '../../json/index.ts'
import { appHeaders } from '../app/app-headers.ts'
import type { ProjectLogin } from '../app/project-app.ts'
import { callingWith } from '../pool/in-graph-client.ts'
import { Wire } from '../wire.ts'
import { sendAnswer, webRequestOf } from './app-answer.ts'
import type { LoginQuestion, LoginReply } from './app-mail.ts'
import { passOn, wayBackIn } from './pass-on.ts'
import type { WayBack } from './pass-on.ts'
import type { AppCall, LoadedApp } from './loaded-app.ts'
import type { NoteFault } from './login-handlers.ts'

/** Parts of the port. */
export interface AppServerParts {
  readonly token: string
  readonly login: ProjectLogin | undefined
  readonly app: LoadedApp | undefined
  /** Takes the requests for WebSockets; undefined if the app has none. */
  readonly sockets: EventEmitter | undefined
  readonly noteFault: NoteFault
}

/** Bytes of headers: those that clients may send, and those of the front door. */
const headerBytesMax = 64 * 1024
/** Longer than the front door keeps an unused connection. */
const keepAliveMs = 120_000

/** Opens the port. Resolves with it, or rejects with the system's error. */
export async function openAppServer(parts: AppServerParts): Promise<number> {
  const isOurs = tokenTest(parts.token)
  const server = createServer({ maxHeaderSize: headerBytesMax, keepAliveTimeout: keepAliveMs,
    requestTimeout: 0, headersTimeout: 0 }, (request, response) => {
    if (!isOurs(request)) return void response.writeHead(403).end()
    void answer(parts, request, response)
  })
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    socket.on('error', () => socket.destroy())
    if (!isOurs(request)) return void socket.destroy()
    if (request.headers.upgrade === 'heddle-app') return answerQuestions(parts, socket, head)
    if (parts.sockets === undefined) return void socket.destroy()
    delete request.headers[appHeaders.token]
    parts.sockets.emit('upgrade', request, socket, head)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // The thread ends when its owner says so, and not when nothing listens.
  return portOf(server)
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port
}

function tokenTest(token: string): (request: IncomingMessage) => boolean {
  const expected = Buffer.from(token)
  return ({ headers }) => {
    const given = Buffer.from(String(headers[appHeaders.token] ?? ''))
    return given.length === expected.length && timingSafeEqual(given, expected)
  }
}

async function answer({ app, noteFault }: AppServerParts, request: IncomingMessage,
  response: ServerResponse): Promise<void> {
  const left = new AbortController()
  response.once('close', () => {
    if (!response.writableFinished) left.abort()
  })
  // A longer body would be the begin of the next answer.
  response.strictContentLength = request.method !== 'HEAD'
  try {
    if (app === undefined) throw new Error('The project has no app.')
    const original = webRequestOf(request, left.signal)
    if (original === undefined) return void response.writeHead(400).end()
    const asked = callOf(request, original)
    const key = request.headers[appHeaders.key]
    const made = await callingWith(typeof key === 'string' ? key : undefined, () =>
      app.handle(asked))
    await sendAnswer(made, response)
  } catch (error) {
    if (left.signal.aborted) return
    noteFault('The app threw.', error)
    if (response.headersSent) response.destroy()
    else response.writeHead(500, { 'content-type': 'text/plain' }).end('Internal Server Error')
  } finally {
    // A body that nobody has read would stop the next request of the connection.
    request.resume()
  }
}

function callOf(request: IncomingMessage, original: Request): AppCall {
  const { headers, method = 'GET' } = request
  const back = wayBackIn(headers[appHeaders.back])
  return { request: original, incoming: clientOf(request), user: userIn(headers[appHeaders.user]),
    passOn: back && (headers[appHeaders.check] === undefined
      ? (changed, body) => passOn(back, changed, { original, body })
      : async () => passed(back, method)) }
}

/** The answer to a check: the request may go on. */
function passed({ token }: WayBack, method: string): Response {
  return new Response(method === 'HEAD' ? null : '', { headers: { [appHeaders.passed]: token } })
}

/** The connection as code of apps looks for it, with the address of the client. */
function clientOf({ headers, method, url }: IncomingMessage): object {
  const [remoteAddress] = String(headers['x-forwarded-for'] ?? '').split(',').slice(-1)
  return { headers, method, url, socket: { remoteAddress: remoteAddress?.trim() } }
}

function userIn(header: string | string[] | undefined): unknown {
  return typeof header === 'string' ? JSON.parse(header) as unknown : undefined
}

function answerQuestions({ login, noteFault }: AppServerParts, socket: Socket, head: Buffer): void {
  socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\n' +
    'upgrade: heddle-app\r\n\r\n')
  socket.setNoDelay(true)
  if (head.length > 0) socket.unshift(head)
  const wire: Wire<LoginReply, LoginQuestion> = new Wire(socket, {
    mail: (question) => {
      if (login === undefined) return wire.close()
      void ask(login, question).then((made) => wire.send({ asking: question.asking, answer: made }))
    },
    broken: (error) => noteFault('A question to the login cannot be read.', error),
  })
}

async function ask(login: ProjectLogin, question: LoginQuestion): Promise<LoginReply['answer']> {
  return question.kind === 'authenticate'
    ? await login.authenticate(question.request)
    : await login.on(question.asked)
}

/** Takes WebSockets for the function that a module exports for them; undefined if it has none. */
export function socketsOf(module: unknown, app: unknown): EventEmitter | undefined {
  const inject = [memberOf(module, 'injectWebSocket'), memberOf(app, 'injectWebSocket')]
    .find((each) => typeof each === 'function') as ((server: EventEmitter) => void) | undefined
  if (inject === undefined) return undefined
  // It listens to the upgrades of a server. This one has only those that the front door sends.
  const upgrades = new EventEmitter()
  inject(upgrades)
  return upgrades
}
