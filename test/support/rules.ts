/** Rules of a server under test: spans that end, and what is waited for. */

import { expect, vi } from 'vitest'

import { ask } from './wire.ts'
import type { JsonAnswer } from './wire.ts'

/** Members of a root that has ended. */
export type EndedRun = Readonly<Record<string, unknown>> & { readonly id: string }

/** A server, as its rules are asked. */
export interface RuleWire {
  send(method: string, path: string, body?: unknown): Promise<JsonAnswer>
  /** The id of a new or known project. */
  project(name: string): Promise<string>
  /** The id of a new rule. */
  rule(body: object): Promise<string>
  /** Sends roots that have ended. */
  end(project: string, runs: readonly EndedRun[]): Promise<void>
  log(rule: string): Promise<readonly RuleLine[]>
  feedback(run: string): Promise<readonly Readonly<Record<string, unknown>>[]>
}

/** A line of the log of a rule. */
export interface RuleLine {
  readonly id: number
  readonly outcome: string
  readonly run_id?: string
  readonly message: string
  readonly actions: readonly { readonly kind: string; readonly outcome: string;
    readonly message: string; readonly judge_run_id?: string }[]
}

/** The wire to a server. */
export function ruleWire(server: { readonly url: string },
  headers: Record<string, string> = {}): RuleWire {
  const send = (method: string, path: string, body?: unknown) =>
    ask(server.url, method, `/api/v1${path}`, body, headers)
  return {
    send,
    project: async (name) => {
      const { body } = await send('POST', '/sessions?upsert=true', { name })
      return (body as { readonly id: string }).id
    },
    rule: async (body) => {
      const answer = await send('POST', '/runs/rules', body)
      expect(answer).toMatchObject({ status: 200 })
      return (answer.body as { readonly id: string }).id
    },
    end: async (project, runs) => {
      const now = Date.now()
      const post = runs.map((run) => {
        const stamp = new Date(now).toISOString().replace(/[-:.]|Z$/g, '')
        return { name: 'agent', run_type: 'chain', session_id: project, trace_id: run.id,
          dotted_order: `${stamp}000Z${run.id}`, start_time: now, end_time: now + 10, inputs: {},
          outputs: {}, ...run }
      })
      expect(await send('POST', '/runs/batch', { post, patch: [] })).toMatchObject({ status: 202 })
    },
    log: async (rule) =>
      (await send('GET', `/runs/rules/${rule}/logs?limit=200`)).body as readonly RuleLine[],
    feedback: async (run) =>
      (await send('GET', `/feedback?run=${run}`)).body as readonly Record<string, unknown>[],
  }
}

/** Waits until a check passes. */
export function eventually(check: () => Promise<void>, timeout = 50_000): Promise<void> {
  return vi.waitFor(check, { timeout, interval: 100 })
}
