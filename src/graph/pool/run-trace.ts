/** Makes an execution part of a trace, for the project's own tracing. */

/** Name under which every copy of the OpenTelemetry API finds the setup of the project. */
const apiOfProject = Symbol.for('opentelemetry.js.api.1')

/** Does `work` within a trace. `trace` is a W3C traceparent; undefined if nothing is traced. */
export async function underTrace<Result>(trace: string | undefined,
  work: () => Promise<Result>): Promise<Result> {
  if (trace === undefined || !Object.hasOwn(globalThis, apiOfProject)) return await work()
  const { ROOT_CONTEXT, context, trace: spans } = await import('@opentelemetry/api')
  const [, traceId, spanId, flags] = trace.split('-') as [string, string, string, string]
  const span = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true }
  return await context.with(spans.setSpanContext(ROOT_CONTEXT, span), work)
}
