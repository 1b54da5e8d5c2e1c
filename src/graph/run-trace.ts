/** What an execution is part of, as the project's own tracing sees it. */

/** Where all copies of the library find what the project has set up for it. */
const apiOfProject = Symbol.for('opentelemetry.js.api.1')

/** `trace` is a traceparent of W3C; missing where nobody watches. */
export async function underTrace<Result>(trace: string | undefined, work: () => Promise<Result>):
Promise<Result> {
  if (trace === undefined || !Object.hasOwn(globalThis, apiOfProject)) return await work()
  const { ROOT_CONTEXT, context, trace: spans } = await import('@opentelemetry/api')
  const [, traceId, spanId, flags] = trace.split('-') as [string, string, string, string]
  const span = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true }
  return await context.with(spans.setSpanContext(ROOT_CONTEXT, span), work)
}
