/** Ports of rules beyond the store of traces, such as models and queues; the server fills them. */

import type { Egress } from '../../../egress/index.ts'
import type { Uuid } from '../../spans/span.ts'

/** A message to a model. */
export interface JudgeMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool'
  readonly content: string
}

/** Answer of a model as a judge: its text, the parsed JSON and the tokens used. */
export interface JudgeAnswer {
  readonly text: string
  readonly json?: unknown
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number } | null
}

/** Calls and checks of the models of a tenant, by their serialised form. */
export interface JudgeModels {
  /** Calls a serialised model, or the tenant's default for null. Throws HeddleError. */
  ask(tenant: string,
    call: { readonly model: unknown; readonly messages: readonly JudgeMessage[];
      readonly schema: Readonly<Record<string, unknown>> },
    signal: AbortSignal): Promise<JudgeAnswer>
  /** Throws `invalid` for a model that cannot be read. */
  check(model: unknown): void
}

/** Prompts of a tenant that judges use, and readers of their manifests. */
export interface JudgePrompts {
  /** The manifest that a reference such as `name:latest` means. */
  manifest(tenant: string, ref: string): Promise<unknown>
  messagesOf(manifest: unknown, values: Readonly<Record<string, unknown>>): readonly JudgeMessage[]
  variablesOf(manifest: unknown): readonly string[]
  modelOf(manifest: unknown): unknown
  schemaOf(manifest: unknown): Readonly<Record<string, unknown>> | null
}

/** An example made of a span. */
export interface RuleExample {
  readonly id: Uuid
  readonly inputsJson: string
  readonly outputsJson: string | null
  readonly metadataJson: string | null
  readonly sourceRun: Uuid
}

/** A run of a graph of this server as a judge. */
export interface GraphJudgement {
  readonly graphId: string
  readonly input: Readonly<Record<string, unknown>>
  /** The same key is the same run. */
  readonly key: Uuid
  readonly metadata: Readonly<Record<string, string>>
}

/** Ways to act. What a server does not offer is missing. */
export interface RulePort {
  readonly egress: Pick<Egress, 'send'> & {
    /** Throws `invalid` for a URL that the project of the tenant never calls. */
    check(url: string, tenant: string): void
  }
  readonly models?: JudgeModels
  readonly prompts?: JudgePrompts
  readonly queues?: {
    /** The same spans again change nothing. Throws `not_found`. */
    add(tenant: string, queue: Uuid, runs: readonly Uuid[]): Promise<unknown>
    exists(tenant: string, queue: Uuid): Promise<boolean>
  }
  readonly datasets?: {
    /** An example with the same id is replaced or kept. Throws `not_found`. */
    addExample(tenant: string, dataset: Uuid, example: RuleExample): Promise<unknown>
    name(tenant: string, dataset: Uuid): Promise<string | undefined>
    /** The outputs of an example as JSON. */
    reference(tenant: string, example: Uuid): Promise<unknown>
  }
  readonly graphs?: {
    has(tenant: string, graphId: string): boolean
    /** The values of its final state, with the id of the run. */
    run(tenant: string, judgement: GraphJudgement,
      signal: AbortSignal): Promise<{ readonly runId: Uuid; readonly values: unknown }>
  }
}
