/** The project `whole` as its users reach it: through doors that must all answer the same. */

import { createHmac } from 'node:crypto'
import { request as send } from 'node:http'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { buffer } from 'node:stream/consumers'

import { expect } from 'vitest'

/** An address at which the project answers. */
export interface Door {
  /** Its root: with a path, if the project is below one. */
  readonly url: string
  /** The name that the server is called by, if not that of the address. */
  readonly host?: string
}

/** An answer, whole. */
export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** Undefined for a body that is no JSON. */
  readonly json: unknown
}

/** What is asked. */
export interface Asked {
  readonly method: string
  readonly path: string
  /** JSON, or a text as it is. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** Headers that must be the same at every door. */
const compared = ['content-type', 'cache-control', 'x-bakery', 'x-login', 'www-authenticate',
  'vary', 'access-control-allow-origin', 'location', 'content-location'] as const

const ids = /[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/g
const times = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[.\d]*(?:Z|\+00:00)/g

/** The project behind some doors. */
export class Bakery {
  readonly doors: readonly Door[]
  readonly secret: string

  constructor(doors: readonly Door[], secret: string) {
    this.doors = doors
    this.secret = secret
  }

  /** The same without these doors. */
  without(...closed: readonly Door[]): Bakery {
    return new Bakery(this.doors.filter((door) => !closed.includes(door)), this.secret)
  }

  /** The door with this number. After the last comes the first again. */
  door(number: number): Door {
    return this.doors[number % this.doors.length]!
  }

  /** The pass of a user as headers; none for nobody. */
  headersOf(user: string | undefined): Record<string, string> {
    if (user === undefined) return {}
    const signed = createHmac('sha256', this.secret).update(user).digest('hex').slice(0, 16)
    return { authorization: `Bearer ${user}.${signed}` }
  }

  /** Asks at one door as a user. */
  async ask(number: number, user: string | undefined, asked: Asked): Promise<Answer> {
    const answer = await this.open(number, user, asked)
    const text = (await buffer(answer)).toString()
    expect(text).not.toContain(this.secret)
    expect(answer.rawHeaders.join('\n')).not.toContain(this.secret)
    return { status: answer.statusCode!, headers: answer.headers, text, json: parsed(text) }
  }

  /** The same of what must go well. Resolves with the JSON. */
  async get<Body>(number: number, user: string, asked: Asked): Promise<Body> {
    const { status, text, json } = await this.ask(number, user, asked)
    expect([status < 300, status < 300 || text]).toEqual([true, true])
    return json as Body
  }

  /** Asks at every door. Resolves with the answer, which must be the same. */
  async everywhere(user: string | undefined, asked: Asked): Promise<Answer> {
    const [first, ...others] = await Promise.all(
      this.doors.map((_, number) => this.ask(number, user, asked)),
    )
    const shape = (answer: Answer, number: number) => this.#shape(answer, this.door(number), asked)
    for (const [at, other] of others.entries()) {
      expect(shape(other, at + 1)).toEqual(shape(first!, 0))
    }
    return first!
  }

  /** Sends a request. Resolves with the answer when its headers are there. */
  open(number: number, user: string | undefined,
    { method, path, body, headers = {} }: Asked): Promise<IncomingMessage> {
    const { url, host } = this.door(number)
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
    const text = typeof body === 'string' || body === undefined ? body : JSON.stringify(body)
    const request = send(url + path, { method, agent: false, headers: {
      ...text !== undefined && { 'content-type': 'application/json' },
      ...host !== undefined && { host },
      ...this.headersOf(user),
      ...headers,
    } }, resolve)
    request.once('error', reject).end(text)
    return promise
  }

  /** Of an answer, what each door says alike: the address aside, and, if something is made, ids. */
  #shape({ status, headers, text }: Answer, { url, host }: Door, { method }: Asked): object {
    const { origin, host: name } = new URL(url)
    // On a busy machine one of the doors may begin its answer early, with an empty line.
    const begunEarly = text.startsWith('\n')
    const valueOf = (name: string) =>
      begunEarly && name === 'cache-control' ? undefined : headers[name]
    const said = [text.trimStart(), ...compared.map((each) => `${each}: ${String(valueOf(each))}`)]
      .join('\n')
      .replaceAll(origin, '//door').replaceAll(host ?? name, 'door')
      .replaceAll(/https?:\/\/door/g, '//door')
      .replaceAll(/\/d\/bakery\b|\/branch\b/g, '')
    return { status,
      said: method === 'GET' ? said : said.replaceAll(ids, 'id').replaceAll(times, 'time') }
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
