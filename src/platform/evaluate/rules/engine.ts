/** Makes the rules of one member and their engine from the parts of its platform. */

import type { Env } from '../../../../cluster/index.ts'
import { HeddleError } from '../../../errors.ts'
import { cautiousClock } from '../../../limits/index.ts'
import type { CatalogClient } from '../../records/catalog/catalog-client.ts'
import type { DocumentPort } from '../../spans/document-port.ts'
import type { Projects } from '../../records/projects/project.ts'
import type { Calls } from '../../calls/calls.ts'
import { asRuleEvaluator } from './evaluator.ts'
import type { JudgeParts } from './judge.ts'
import type { RulePort } from './judge-port.ts'
import type { RuleEngine } from './rule-actor.ts'
import type { RuleClient } from './rule-client.ts'
import { rulesOver } from './rules.ts'
import type { Rules } from './rules.ts'
import type { SpanWrites } from '../../ingest/ingest-call.ts'
import type { SpanReads } from '../../query/question.ts'
import type { RuleReads } from './rule-query.ts'

/** Options of the rules of a platform: their client, their ports and their lag. */
export interface RuleOptions {
  readonly client: RuleClient
  readonly port: RulePort
  /** Milliseconds that ends are old before rules read them. Clocks differ by less. */
  readonly lagMs: number
}

/** The parts of a platform that rules use. */
export interface EngineParts extends RuleOptions {
  readonly catalogs: CatalogClient
  readonly documents: DocumentPort
  readonly projects: Projects
  readonly ingest: () => Pick<Calls<SpanWrites>, 'ingest' | 'putFeedback'>
  readonly query: () => Calls<SpanReads & RuleReads>
  readonly env: Env
}

/** The rules, and what their actors work with. */
export function ruleEngine(
  parts: EngineParts,
): { readonly rules: Rules; readonly engine: RuleEngine } {
  const { ingest, query, lagMs, projects, documents } = parts
  const judging = judgingOver(parts)
  const rules = rulesOver({ ...parts, judging })
  const pass = { ...judging, documents, projects, query, lagMs,
    putFeedback: (rows: Parameters<EngineIngest['putFeedback']>[0]) => ingest().putFeedback(rows) }
  return { rules,
    engine: { records: rules.records, pass, cautiousNowMs: cautiousClock(parts.env),
      evaluatorsOf: async (tenant, { evaluators, evaluator_id: id }) => [
        ...evaluators ?? [],
        ...id === null ? [] : await keptEvaluator(rules, tenant, id),
      ] } }
}

/** Dependencies of judges, over the parts of a platform. */
export function judgingOver<Own extends JudgeParts['env']>(
  { port, env, ingest }: Pick<EngineParts, 'port' | 'ingest'> & { readonly env: Own },
): JudgeParts & { readonly env: Own } {
  return { port, env, keepSpan: async (tenant, span) => {
    const body = Buffer.from(JSON.stringify({ post: [span], patch: [] }))
    await ingest().ingest({ tenant, form: 'batch', encoding: '', body,
      contentType: 'application/json' })
  } }
}

type EngineIngest = ReturnType<EngineParts['ingest']>

/** One that was deleted judges no more. */
async function keptEvaluator({ evaluators }: Rules, tenant: string, id: string) {
  try {
    return [asRuleEvaluator(await evaluators.get(tenant, id))]
  } catch (error) {
    if (HeddleError.from(error).code !== 'not_found') throw error
    return []
  }
}
