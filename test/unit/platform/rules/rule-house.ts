/** A rule whose parts are given by the test, with a webhook that notes its calls. */

import type { PassParts, RuleInPass } from '../../../../src/platform/evaluate/rules/rule-pass.ts'
import { decideRule, unbegun } from '../../../../src/platform/evaluate/rules/rule-state.ts'
import type { RuleState } from '../../../../src/platform/evaluate/rules/rule-state.ts'

const json = (value: unknown) => Promise.resolve(Buffer.from(JSON.stringify(value)))

/** A rule of one project, in a pass. `answers` are those of the query thread, by its calls. */
export function ruleHouse(rule: object, answers: Readonly<Record<string, () => unknown>>,
  state: Partial<RuleState> = {}) {
  const called: string[] = []
  const bodies: unknown[] = []
  const logged: unknown[] = []
  const calls = Object.fromEntries(Object.entries(answers)
    .map(([name, answer]) => [name, () => json(answer())]))
  const parts = {
    env: { nowMs: () => 1e12 },
    projects: { get: () => Promise.resolve([{ id: 'p', name: 'the project' }]) },
    documents: { listDocuments: () => Promise.resolve([]) },
    query: () => calls,
    port: {
      egress: { send: async ({ url, body }: { readonly url: string; body(): Promise<string> }) => {
        called.push(url)
        bodies.push(JSON.parse(await body()))
        return { kind: 'answered', status: 200 }
      } },
    },
    lagMs: 0,
  } as unknown as PassParts
  const keeper = {
    state: { ...unbegun, ...state },
    decide: (command: Parameters<typeof decideRule>[1]) => {
      const after = decideRule(keeper.state, command, parts.env.nowMs())
      keeper.state = after.state
      logged.push(...after.effects.flatMap((each) => each.kind === 'log' ? each.entries : []))
      return Promise.resolve(after.granted)
    },
  }
  const here = { tenant: 'acme', evaluators: [], known: new Map(), keeper,
    rule: { id: 'r', display_name: 'Errors', session_id: 'p', sampling_rate: 1, filter: null,
      trace_filter: null, tree_filter: null, add_to_annotation_queue_id: null,
      add_to_dataset_id: null, webhooks: null, alerts: null, spend_limit: null,
      ...rule } } as unknown as RuleInPass
  return { parts, here, called, bodies, logged }
}
