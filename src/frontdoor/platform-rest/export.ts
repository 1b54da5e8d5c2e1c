/** The route that gives spans out, as lines of JSON that can be sent in again. */

import { Readable } from 'node:stream'

import { exportRuns } from '../../api/index.ts'
import type { ExportQuestion, Platform } from '../../platform/index.ts'
import { leftSignal } from '../http/list-reply.ts'
import type { App } from '../http/route.ts'
import { serve } from '../http/serve.ts'
import type { PlatformParts } from './platform-route.ts'
import { questionOfV1 } from './runs-question.ts'
import { projectsAsked } from './runs.ts'

/** Adds the route below `/api/v1`. */
export function exportRoutes(app: App, { platform }: PlatformParts): void {
  serve(app, exportRuns, async (request, reply) => {
    const { body, caller: { tenant } } = request
    const projects = await projectsAsked(platform, request, body)
    const question = questionOfV1(tenant, projects, { ...body, order: 'asc', limit: null })
    const lines = linesOf(platform, { ...question, form: body.format ?? 'jsonl' },
      leftSignal(reply))
    // What is wrong with the question is answered with a status.
    const first = await lines.next()
    return reply.type('application/x-ndjson')
      .send(Readable.from(withFirst(first, lines), { objectMode: false }))
  })
}

async function* linesOf(platform: Platform, question: ExportQuestion,
  signal: AbortSignal): AsyncGenerator<Uint8Array, void, void> {
  for (let cursor: string | null | undefined; cursor !== null;) {
    const page = await platform.query.exported(
      { ...question, ...cursor !== undefined && { cursor } },
      { signal },
    )
    yield page.lines
    cursor = page.cursor
  }
}

async function* withFirst(first: IteratorResult<Uint8Array, void>,
  rest: AsyncGenerator<Uint8Array, void, void>): AsyncGenerator<Uint8Array, void, void> {
  if (!first.done) yield first.value
  yield* rest
}
