/** Models without a key or the internet: three dialects on loopback, always the same words. */

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

import { answerTo } from './model-answer.ts'
import { dialectOf } from './model-dialects.ts'

/** A stub that must be closed. */
export interface ModelStub {
  readonly url: string
  /** Questions that came. */
  readonly asked: number
  /** Variables that lead the usual clients of models to it. */
  readonly variables: Readonly<Record<string, string>>
  close(): void
}

/** Opens it at a free port. */
export async function openModelStub(): Promise<ModelStub> {
  let asked = 0
  const server = createServer((request, response) => {
    asked += 1
    answer(request, response).catch((error: Error) => refuse(response, 400, error.message))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    get asked() {
      return asked
    },
    variables: {
      OPENAI_API_KEY: 'stub',
      OPENAI_BASE_URL: `${url}/v1`,
      ANTHROPIC_API_KEY: 'stub',
      ANTHROPIC_BASE_URL: url,
      GOOGLE_API_KEY: 'stub',
      GEMINI_API_KEY: 'stub',
      GOOGLE_GEMINI_BASE_URL: url,
      TAVILY_API_KEY: 'stub',
      LANGSMITH_TRACING: 'false',
      LANGCHAIN_TRACING_V2: 'false',
    },
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = new URL(request.url ?? '/', 'http://stub').pathname
  const dialect = dialectOf(path)
  if (dialect === undefined) return refuse(response, 404, `The stub of models has no ${path}`)
  const body = JSON.parse(await text(request)) as Record<string, unknown>
  const reply = answerTo(dialect.questionOf(body))
  const streams = body['stream'] === true || path.endsWith(':streamGenerateContent')
  response.setHeader('content-type', streams ? 'text/event-stream' : 'application/json')
  response.end(streams ? dialect.events(reply) : JSON.stringify(dialect.whole(reply, body)))
}

function refuse(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ error: { message } }))
}
