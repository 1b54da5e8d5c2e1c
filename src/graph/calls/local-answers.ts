/** Answers requests of `node:http` inside of this thread, by a server that never listens. */

import { createServer } from 'node:http'
import type { ClientRequest, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { duplexPair } from 'node:stream'
import type { Duplex } from 'node:stream'

import type { AnswerHead, CallAnswer } from './call.ts'

/** Headers of a connection, of which there is none. */
const ofConnection = new Set(['connection', 'keep-alive', 'transfer-encoding', 'upgrade'])

/** Methods of a socket that have no effect on a stream. */
const methods = ['setTimeout', 'setNoDelay', 'setKeepAlive', 'ref', 'unref']

const answers = new WeakMap<object, CallAnswer>()

const server = createServer({ keepAliveTimeout: 0, requestTimeout: 0 }, (request, response) => {
  request.resume()
  const answer = answers.get(request.socket)
  if (answer === undefined) return void response.destroy()
  response.sendDate = false
  response.shouldKeepAlive = false
  // A client that has gone is no error of anybody.
  write(response, answer).catch((error: Error) => response.destroy(error))
})

/** Gives a request a connection at whose other end the answer is. */
export function answerLocally(request: ClientRequest, answer: CallAnswer): void {
  const [near, far] = duplexPair()
  answers.set(far, answer)
  for (const end of [near, far]) {
    end.on('error', () => {})
    likeSocket(end)
  }
  server.emit('connection', far as Socket)
  request.onSocket(near as Socket)
}

/** Gives a stream the methods of a socket that clients call. None of them has an effect here. */
function likeSocket(end: Duplex): void {
  const self = () => end
  Object.assign(end, Object.fromEntries(methods.map((name) => [name, self])), {
    connecting: false,
    encrypted: true,
    authorized: true,
    destroySoon: () => end.end(() => end.destroy()),
  })
}

async function write(response: ServerResponse, { head, body }: CallAnswer): Promise<void> {
  writeHead(response, head)
  response.flushHeaders()
  for await (const chunk of body) {
    if (response.destroyed) return
    if (!response.write(chunk)) await drained(response)
  }
  response.end()
}

function writeHead(response: ServerResponse, { status, statusText, headers }: AnswerHead): void {
  const raw = headers.filter(([name]) => !ofConnection.has(name.toLowerCase())).flat()
  response.writeHead(status, statusText, raw)
}

async function drained(response: ServerResponse): Promise<void> {
  await new Promise<void>((resolve) => {
    response.once('drain', resolve)
    response.once('close', resolve)
  })
}
