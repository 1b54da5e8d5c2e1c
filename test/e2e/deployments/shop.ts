/** A project that is deployed again and again: its runs say which code and secret they had. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect } from 'vitest'

import { runNewCommand } from '../../../src/cli/new-command.ts'
import { buildRevision, platformHere } from '../../../src/revision/index.ts'
import { linkPackages } from '../../support/linked-packages.ts'
import { runIn } from '../../support/project-command.ts'
import { ask } from '../../support/wire.ts'
import type { JsonAnswer } from '../../support/wire.ts'

/** Where the control API has it. */
export const shopPath = '/control/v1/deployments/shop'

/** A front door, and the key to use there. */
export interface Target {
  readonly url: string
  readonly headers?: Record<string, string>
}

/** Makes the starter in a folder, with one graph more. */
export async function makeShop(root: string): Promise<string> {
  const shop = join(root, 'shop')
  expect(await runIn(root, runNewCommand, shop)).toMatchObject({ status: 0, stderr: '' })
  writeFileSync(join(shop, 'package-lock.json'), '{}')
  writeFileSync(join(shop, 'langgraph.json'), JSON.stringify({ graphs: {
    agent: './src/agent.ts:agent',
    show: './src/show.ts:graph',
  } }))
  await linkPackages(shop, shop)
  return shop
}

/** Changes its code: each run answers with this text, and with the value of `TOKEN`. */
export function changeShop(shop: string, text: string): void {
  writeFileSync(join(shop, 'src/show.ts'),
    `import { Annotation, StateGraph } from '@langchain/langgraph'
const State = Annotation.Root({ said: Annotation<string> })
export const graph = new StateGraph(State)
  .addNode('show', () => ({ said: '${text} ' + (process.env.TOKEN ?? 'none') }))
  .addEdge('__start__', 'show').compile()
`)
}

/** Uploads what the project is now. Resolves with the name of the revision. */
export async function uploadShop(shop: string, { url, headers = {} }: Target): Promise<string> {
  const chunks = new Map<string, Buffer>()
  const { manifest } = await buildRevision({ config: shop, platform: platformHere(),
    keep: async ({ sha256, data }) => void chunks.set(sha256, data) })
  const begun = done(await ask(url, 'POST', `${shopPath}/revisions`, { manifest }, headers)) as {
    readonly revision: { readonly name: string }
    readonly missing: readonly string[]
  }
  const { revision: { name }, missing } = begun
  await Promise.all(missing.map(async (sha256) => {
    const answer = await fetch(`${url}${shopPath}/revisions/${name}/chunks/${sha256}`, {
      method: 'PUT',
      headers: { ...headers, 'content-type': 'application/octet-stream' },
      body: new Uint8Array(chunks.get(sha256)!),
    })
    expect(answer.status).toBe(204)
  }))
  return name
}

/** The body of an answer that is not an error. */
export function done({ status, body }: JsonAnswer): unknown {
  if (status < 300) return body
  throw new Error(`It was answered ${status}: ${JSON.stringify(body)}`)
}
