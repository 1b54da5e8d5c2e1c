/** The login and the app of a project as the server asks them, wherever their thread is now. */

import { request as send } from 'node:http'
import type { Socket } from 'node:net'

import type { Env } from '../../../cluster/index.ts'
import { withTimeout } from '../../../cluster/index.ts'
import { HeddleError } from '../../errors.ts'
import { appHeaders } from '../app/app-headers.ts'
import { avoidedFinder, fitFinder } from '../app/app-patterns.ts'
import type { ActionAnswer, AppAddress, LoginAnswer, ProjectApp, ProjectLogin,
  ProjectRoutes } from '../app/project-app.ts'
import { Wire } from '../wire.ts'
import { isLoginReply } from './app-mail.ts'
import type { AppPlace, LoginQuestion, LoginReply } from './app-mail.ts'

/** Bytes of the longest answer of a login. */
const frameMax = 16 * 1024 * 1024
/** Questions that are asked at a time. More of them are refused. */
const askedMax = 10_000

const silent = 'The login of this project does not answer: ask again in a moment.'
const away = 'The app of this project does not answer: ask again in a moment.'

type Answer = LoginReply['answer']

/** A question without its number. */
type Question = LoginQuestion extends infer Each ? Each extends LoginQuestion ? Omit<Each, 'asking'>
  : never
  : never

/** Follows the thread of one project. Questions and requests wait while it is replaced. */
export class AppLink {
  readonly #env: Pick<Env, 'after'>
  readonly #limitMs: number
  #place = Promise.withResolvers<AppPlace>()
  /** Resolves when the thread answers at another place, or nowhere. */
  #change = Promise.withResolvers<void>()
  #app: ProjectApp | undefined
  /** The connection that is open, or will be. */
  #wire: Promise<LoginWire> | undefined
  #live: LoginWire | undefined
  #isClosed = false

  /** `limitMs` is the time that an answer of the login may take. */
  constructor(env: Pick<Env, 'after'>, limitMs: number) {
    this.#env = env
    this.#limitMs = limitMs
  }

  /** The login and the routes; undefined before they were loaded for the first time. */
  get app(): ProjectApp | undefined {
    return this.#app
  }

  /** The thread answers there; undefined if it answers nowhere until it is replaced. */
  moved(place: AppPlace | undefined): void {
    if (this.#isClosed) return
    this.#change.resolve()
    this.#change = Promise.withResolvers()
    // One that is not open yet finds the next place itself.
    this.#live?.close()
    if (place === undefined) {
      this.#place = Promise.withResolvers()
      return
    }
    this.#app = { ...place.events && { login: this.#login(place.events) },
      ...place.app && { routes: this.#routes(place.app) } }
    this.#place.resolve(place)
    // A place that moves without a break before it.
    this.#place = Promise.withResolvers()
    this.#place.resolve(place)
  }

  /** Answers nothing any more. */
  close(): void {
    this.#isClosed = true
    for (const { promise, reject } of [this.#place, this.#change]) {
      promise.catch(() => {})
      reject(new HeddleError('unavailable', away))
    }
    this.#live?.close()
  }

  #routes({ patterns, takesSockets, openApi }: NonNullable<AppPlace['app']>): ProjectRoutes {
    const paths = new Set(patterns?.map(({ path }) => path))
    return { fit: fitFinder(patterns), isAvoided: avoidedFinder(patterns),
      hasPath: (path) => paths.has(path), takesSockets, openApi,
      address: (gone) => this.#address(gone) }
  }

  #login(events: readonly string[]): ProjectLogin {
    return {
      events,
      authenticate: async (request) =>
        await this.#ask({ kind: 'authenticate', request }) as LoginAnswer,
      on: async (asked) => await this.#ask({ kind: 'on', asked }) as ActionAnswer,
    }
  }

  async #address(gone: AppAddress | undefined): Promise<AppAddress> {
    const { port, token } = await withTimeout(this.#env, this.#limitMs, this.#placeBut(gone?.port),
      () => new HeddleError('unavailable', away))
    return { port, token }
  }

  /** The place, once it is another than one where nobody answers. */
  async #placeBut(gone: number | undefined): Promise<AppPlace> {
    for (;;) {
      const change = this.#change.promise
      const place = await this.#place.promise
      if (place.port !== gone) return place
      await change
    }
  }

  async #ask(question: Question): Promise<Answer> {
    const late = () => new HeddleError('unavailable', silent)
    const wire = await withTimeout(this.#env, this.#limitMs, this.#connected(), late)
    const answer = await wire.ask(question,
      (reply) => withTimeout(this.#env, this.#limitMs, reply, late))
    const fits = question.kind === 'authenticate' ? 'user' : 'allowed'
    if (answer.kind === 'refused' || answer.kind === fits) return answer
    throw new HeddleError('unavailable', silent)
  }

  /** Tries again at the next place, if nobody answers at this one. */
  async #open(): Promise<LoginWire> {
    let gone: number | undefined
    for (;;) {
      const place = await this.#placeBut(gone)
      const wire = await LoginWire.open(place, () => this.#forget()).catch(() => undefined)
      if (wire !== undefined) return this.#live = wire
      gone = place.port
    }
  }

  #connected(): Promise<LoginWire> {
    if (this.#wire !== undefined) return this.#wire
    this.#wire = this.#open()
    this.#wire.catch(() => this.#forget())
    return this.#wire
  }

  #forget(): void {
    this.#wire = this.#live = undefined
  }
}

/** One connection to a thread, by which its login is asked. */
class LoginWire {
  readonly #wire: Wire<LoginQuestion, unknown>
  readonly #asked = new Map<number, PromiseWithResolvers<Answer>>()
  #last = 0

  private constructor(socket: Socket, closed: () => void) {
    this.#wire = new Wire(socket, {
      mail: (mail) => this.#receive(mail),
      broken: () => this.close(),
    }, frameMax)
    socket.once('close', () => {
      closed()
      for (const { reject } of this.#asked.values()) reject(new HeddleError('unavailable', silent))
      this.#asked.clear()
    })
  }

  /** `closed` is called when the connection has ended. */
  static async open({ port, token }: AppPlace, closed: () => void): Promise<LoginWire> {
    const { promise: socket, resolve, reject } = Promise.withResolvers<Socket>()
    const call = send({ host: '127.0.0.1', port, agent: false,
      headers: { connection: 'upgrade', upgrade: 'heddle-app', [appHeaders.token]: token } })
    call.once('upgrade', (_, upgraded) => resolve(upgraded as Socket))
    call.once('response', (answer) => {
      answer.destroy()
      reject(new HeddleError('unavailable', silent))
    })
    call.once('error', () => reject(new HeddleError('unavailable', silent)))
    call.end()
    const opened = await socket
    opened.setNoDelay(true)
    // It must not keep the process from ending.
    opened.unref()
    return new LoginWire(opened, closed)
  }

  /** Waits for the answer by `inTime`, which gives up after a while. */
  async ask(question: Question,
    inTime: (reply: Promise<Answer>) => Promise<Answer>): Promise<Answer> {
    if (this.#asked.size >= askedMax) {
      throw new HeddleError('unavailable', 'Too many questions wait for the login of this project.')
    }
    const asking = ++this.#last
    const reply = Promise.withResolvers<Answer>()
    this.#asked.set(asking, reply)
    this.#wire.send({ asking, ...question })
    try {
      return await inTime(reply.promise)
    } finally {
      this.#asked.delete(asking)
    }
  }

  close(): void {
    this.#wire.close()
  }

  #receive(mail: unknown): void {
    // User code may have sent it.
    if (!isLoginReply(mail)) return this.close()
    this.#asked.get(mail.asking)?.resolve(mail.answer)
  }
}
