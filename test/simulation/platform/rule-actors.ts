/** The rules of one server in a simulation: the real records, actors and passes. */

import { ActivationTable } from '../../../cluster/index.ts'
import type { Env, Router } from '../../../cluster/index.ts'
import { ruleEngine } from '../../../src/platform/evaluate/rules/engine.ts'
import type { EngineParts } from '../../../src/platform/evaluate/rules/engine.ts'
import { ruleKind } from '../../../src/platform/evaluate/rules/rule-actor.ts'
import type { RuleEngine } from '../../../src/platform/evaluate/rules/rule-actor.ts'
import { ruleClient } from '../../../src/platform/evaluate/rules/rule-client.ts'
import type { RuleClient } from '../../../src/platform/evaluate/rules/rule-client.ts'
import type { Rules } from '../../../src/platform/evaluate/rules/rules.ts'
import { namedId } from '../../../src/platform/records/catalog/named-id.ts'

/** The key of the feedback that each rule gives. */
const key = 'judged'
const lagMs = 500

/** The parts of a server that its rules use. */
export type RuleActorsParts = Omit<EngineParts, 'client' | 'port' | 'lagMs'>

/** The id of the feedback that a rule gives to a span. */
export function judgedId(rule: string, span: string): string {
  return namedId('rule', `feedback\n${rule}\n${span}\n${key}`)
}

/** Rules, and the owner of their actors. */
export class RuleActors {
  readonly rules: Rules
  readonly client: RuleClient
  readonly #env: Env
  readonly #engine: RuleEngine
  #isOver = false
  #epoch = 0
  #commands = 0
  #actors!: ActivationTable

  constructor(parts: RuleActorsParts) {
    const { env } = parts
    this.#env = env
    const ask = (name: Parameters<ActivationTable['ask']>[0], command: never) =>
      this.#actors.ask(name, this.#epoch, command, `command ${++this.#commands}`)
    this.client = ruleClient({ ask } as unknown as Router, env)
    const port = {
      egress: { check: () => {}, send: () => Promise.reject(new Error('No rule has a webhook.')) },
      graphs: { has: () => true,
        run: (_: string, { key: run }: { readonly key: string }) =>
          Promise.resolve({ runId: run, values: { [key]: 1 } }) },
    }
    const { rules, engine } = ruleEngine({ ...parts, lagMs, port, client: this.client })
    this.rules = rules
    this.#engine = engine
    this.moveActors()
  }

  /** Another owner takes the actors over. The one before is not notified. */
  moveActors(): void {
    this.#epoch++
    const engine = () => this.#isOver ? undefined : this.#engine
    this.#actors = new ActivationTable({ env: this.#env,
      kinds: [ruleKind({ engine, env: this.#env })] })
    this.rules.records.awake.page().then((entries) => {
      for (const entry of entries) this.client.wake(entry)
    }, () => {})
  }

  /** Ends all actors with the process. */
  end(): void {
    this.#isOver = true
  }
}
