/** Tries the doors of this thread with calls of its own. */

import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

import type { AnswerHead, Call } from './call.ts'
import type { CallDecision, CallGate } from './call-gate.ts'
import { callingThrough } from './call-scope.ts'

const asked = 'a question'
const answered = 'an answer'

type Ask = (url: string) => Promise<string>

const clients: Readonly<Record<string, Ask>> = {
  fetch: async (url) => (await fetch(url, { method: 'POST', body: asked })).text(),
  'node:http': async (url) => {
    const sent = request(url, { method: 'POST', agent: false })
    sent.end(asked)
    const [response] = await once(sent, 'response') as [IncomingMessage]
    return textOf(response)
  },
}

/** Throws if a door does not show a call as it was, or does not answer one without a request. */
export async function checkDoors(): Promise<void> {
  let requests = 0
  const server = createServer((incoming, response) => {
    requests += 1
    void textOf(incoming).then((text) =>
      response.end(text === asked && incoming.headers['x-door'] === 'passed' ? answered : 'wrong')
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  try {
    for (const [name, ask] of Object.entries(clients)) {
      const before = requests
      const gate = new CheckGate()
      const first = await callingThrough(gate, () => ask(url))
      const second = await callingThrough(gate, () => ask(url))
      const isSeen = first === answered && gate.seen === answered && gate.calls === 2
      if (!isSeen) throw new Error(`calls of ${name} are not seen`)
      if (second !== answered || requests !== before + 1) {
        throw new Error(`calls of ${name} cannot be answered`)
      }
    }
  } finally {
    server.close()
    server.closeAllConnections()
  }
}

/** Lets the first call pass, and answers the next one as that was answered. */
class CheckGate implements CallGate {
  calls = 0
  #head: AnswerHead | undefined
  #chunks: Uint8Array[] = []

  get seen(): string {
    return Buffer.concat(this.#chunks).toString()
  }

  async decide({ body }: Call): Promise<CallDecision> {
    this.calls += 1
    const text = Buffer.from(await body.read(1024) ?? []).toString()
    if (text !== asked) return { kind: 'fail', error: new Error('the body is another one') }
    if (this.#head) {
      return { kind: 'answer', answer: { head: this.#head, body: [...this.#chunks] } }
    }
    return { kind: 'pass', headers: { 'x-door': 'passed' }, watcher: {
      holds: 'answer',
      head: (head) => {
        this.#head = head
      },
      chunk: (chunk) => void this.#chunks.push(Buffer.from(chunk)),
    } }
  }
}

async function textOf(message: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of message) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}
