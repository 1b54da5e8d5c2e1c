/** Models that programs on this machine serve, such as those of Ollama and LM Studio. */

import type { LocalProgram } from '../../../api/index.ts'
import type { Egress } from '../../../egress/index.ts'
import { isObject } from '../../../json/index.ts'

/** Finds the models of this machine. */
export interface LocalModels {
  /** The programs that answer now and have models. Never throws. */
  list(tenant: string): Promise<readonly LocalProgram[]>
}

/** A program that does not run refuses at once; one that hangs must not hold up a page. */
const answerMs = 1_500
const modelsMax = 200
const nameMax = 500

/** Asks programs for their models as the chat completions API does, each time anew. */
export function localModelsAt(origins: readonly string[],
  egress: Pick<Egress, 'send'>): LocalModels {
  const programAt = async (tenant: string, origin: string): Promise<LocalProgram | undefined> => {
    const url = `${origin}/v1/models`
    const outcome = await egress.send({ tenant, method: 'GET', url, tries: 1, answerMs },
      new AbortController().signal)
    if (outcome.kind !== 'answered' || outcome.status !== 200) return undefined
    const models = modelsIn(outcome.body)
    return models.length === 0
      ? undefined
      : { name: nameOf(origin), base_url: `${origin}/v1`, models }
  }
  return {
    list: async (tenant) => {
      const all = await Promise.all(
        origins.map((origin) => programAt(tenant, origin).catch(() => undefined)),
      )
      return all.filter((program) => program !== undefined)
    },
  }
}

/** The ids in an answer that lists models. Those for embeddings cannot chat. Throws for no JSON. */
function modelsIn(body: string): string[] {
  const answer = JSON.parse(body) as unknown
  const list = isObject(answer) && Array.isArray(answer['data']) ? answer['data'] as unknown[] : []
  return list.map((each) => isObject(each) ? each['id'] : undefined)
    .filter((id) => typeof id === 'string')
    .filter((id) => id !== '' && id.length <= nameMax && !/embed/i.test(id))
    .slice(0, modelsMax)
}

const names: Readonly<Record<string, string>> = { '11434': 'Ollama', '1234': 'LM Studio' }

function nameOf(origin: string): string {
  const { port, host } = new URL(origin)
  return names[port] ?? host
}
