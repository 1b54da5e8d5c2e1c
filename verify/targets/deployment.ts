/** A deployment of the graph in two revisions. */

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { DeployTarget } from '../../test/e2e/deploy/deploy-target.ts'
import { deployedProject } from '../../test/e2e/deploy/deployed-project.ts'
import type { Deployment } from './target.ts'

const name = 'verify'
const agentFolder = join(import.meta.dirname, '../agent')

export interface DeployOptions {
  readonly url: string
  readonly key: string
  readonly receiverUrl: string
}

/**
 * Deploys two revisions of the graph, and activates the first one. Each names itself in the log of
 * its threads, and its node `act` has a name of its own, so that an interrupted thread needs the
 * revision that asked.
 */
export async function deployAgent({ url, key, receiverUrl }: DeployOptions): Promise<Deployment> {
  const agent = await readFile(join(agentFolder, 'agent.ts'), 'utf8')
  const project = await deployedProject({
    'langgraph.json': await readFile(join(agentFolder, 'langgraph.json'), 'utf8'),
  })
  try {
    const target = new DeployTarget(url, name, { 'x-api-key': key })
    await target.create({ limits: { workers: 1 } })
    await target.own('PUT', '/secrets', {
      values: { RECEIVER: receiverUrl, TOKEN: 'first-secret' },
    })
    const revisions = []
    for (const revision of ['r1', 'r2']) {
      const built = await project.built(
        agent.replaceAll("'act'", `'act-${revision}'`).replace(
          'revision: string | undefined = undefined',
          `revision: string | undefined = '${revision}'`,
        ),
      )
      const uploaded = await target.upload(built)
      revisions.push(uploaded.name)
      if (revision === 'r1') await target.activate(uploaded.name)
    }
    return { name, revisions }
  } finally {
    await project.remove()
  }
}
