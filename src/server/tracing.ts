/** Traces by OpenTelemetry, sent to the collector that the environment names. */

import { ROOT_CONTEXT, SpanKind, SpanStatusCode, context, diag, trace } from '@opentelemetry/api'
import type { Context, Span, SpanContext } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { defaultResource, detectResources, envDetector,
  resourceFromAttributes } from '@opentelemetry/resources'
import { BatchSpanProcessor, ParentBasedSampler, TraceIdRatioBasedSampler,
  TracerProvider } from '@opentelemetry/sdk-trace'

import { throttleLog } from '../../cluster/index.ts'
import type { Env, TraceSpan, SpanStart, Tracing } from '../../cluster/index.ts'

/** Share of traces that are kept, and the name of this process. */
export interface TracingOptions {
  /** Share of the traces that begin here and are kept, from 0 to 1. */
  readonly ratio: number
  readonly version: string
  /** Identifies this process in its spans. */
  readonly instance: string
  readonly env: Pick<Env, 'log' | 'monotonicMs'>
}

/** Tracing that its owner must close. */
export interface OpenTracing extends Tracing {
  /** Sends the remaining spans. */
  close(): Promise<void>
}

/** Time that spans wait to be sent together. */
const sendMs = 1_000
/** Time in which a problem that each batch has is logged once. */
const quietMs = 600_000

const kinds = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  inner: SpanKind.INTERNAL,
} as const

/** Starts tracing. Call once in a process, as the current context of the library is global. */
export function startTracing({ ratio, version, instance, env }: TracingOptions): OpenTracing {
  complainTo(env)
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  const provider = new TracerProvider({
    resource: defaultResource()
      .merge(
        resourceFromAttributes({ 'service.name': 'heddle', 'service.version': version,
          'service.instance.id': instance }),
      )
      .merge(detectResources({ detectors: [envDetector] })),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) }),
    spanProcessors: [new BatchSpanProcessor({
      exporter: new OTLPTraceExporter(),
      scheduledDelayMillis: sendMs,
    })],
  })
  const tracer = provider.getTracer('heddle', version)
  return {
    current: () => textOf(trace.getSpanContext(context.active())),
    begin: ({ name, kind = 'inner', parent, details = {} }: SpanStart) => {
      const within = parent === undefined ? context.active() : contextOf(parent)
      const span = tracer.startSpan(name, { kind: kinds[kind], attributes: details }, within)
      return spanOf(span, trace.setSpan(within, span))
    },
    close: () => provider.shutdown(),
  }
}

function spanOf(span: Span, within: Context): TraceSpan {
  return {
    trace: textOf(span.spanContext()),
    within: (work) => context.with(within, work),
    end: (details = {}, failure) => {
      span.setAttributes(details)
      if (failure !== undefined) {
        span.setStatus({ code: SpanStatusCode.ERROR, message: failure })
      }
      span.end()
    },
  }
}

/** Passes warnings and errors of the library to our log, but not the same one for each batch. */
function complainTo(env: TracingOptions['env']): void {
  const quiet = () => {}
  const report = throttleLog(env, quietMs)
  const warn = (reason: string) =>
    report(() => env.log.warn('Tracing reports a problem.', { reason }))
  diag.setLogger({ error: warn, warn, info: quiet, debug: quiet, verbose: quiet })
}

const traceparent = /^(?!ff)[\da-f]{2}-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-|$)/

/** The context of a W3C traceparent. A new trace begins if the text is not one. */
function contextOf(text: string): Context {
  const [, traceId, spanId, flags] = traceparent.exec(text) ?? []
  if (traceId === undefined || spanId === undefined || flags === undefined) return ROOT_CONTEXT
  const traceFlags = Number.parseInt(flags, 16) & 1
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true })
}

function textOf(span: SpanContext | undefined): string {
  if (span === undefined) return ''
  return `00-${span.traceId}-${span.spanId}-${span.traceFlags.toString(16).padStart(2, '0')}`
}
