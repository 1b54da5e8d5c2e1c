/** The route of the playground: one call of one model, whose answer is streamed. */

import { askModel } from '../../../api/index.ts'
import { modelCallOf, usageJson } from '../../../platform/index.ts'
import type { TracedEvent } from '../../../platform/index.ts'
import type { App } from '../../http/route.ts'
import { serve } from '../../http/serve.ts'
import type { PlatformParts } from '../platform-route.ts'
import { sendEvents } from './model-events.ts'
import type { ModelEvent } from './model-events.ts'

/** The project of the spans. */
const project = 'playground'

/** Adds the route below `/api/v1`. */
export function playgroundRoutes(app: App, parts: PlatformParts): void {
  const { platform } = parts
  serve(app, askModel, async ({ body, caller: { tenant } }, reply) => {
    const call = await modelCallOf(platform, tenant, body)
    await sendEvents(parts, reply,
      (signal) => eventsOf(platform.tracedModels.stream({ tenant, project, call }, signal)))
  })
}

async function* eventsOf(events: AsyncIterable<TracedEvent>): AsyncIterable<ModelEvent> {
  for await (const event of events) yield wireOf(event)
}

function wireOf(event: TracedEvent): ModelEvent {
  switch (event.kind) {
    case 'start':
      return { name: 'start', data: { run_id: event.id, project } }
    case 'text':
      return { name: 'text', data: { text: event.text } }
    case 'end': {
      const { id, answer: { text, json, toolCalls, usage }, latencyMs, firstTextMs } = event
      return { name: 'end',
        data: { run_id: id, text, ...json !== undefined && { json },
          ...toolCalls && { tool_calls: toolCalls }, usage: usage && usageJson(usage),
          latency_ms: latencyMs, first_text_ms: firstTextMs } }
    }
    case 'error': {
      const { id, error: { code, message, details: { answeredStatus: status } } } = event
      return { name: 'error',
        data: { run_id: id, error: code, detail: message, ...status !== undefined && { status } } }
    }
  }
}
