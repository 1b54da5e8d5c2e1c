/** Records of deployments in memory, with callers that are slow, or die at any step. */

import { deploymentSecretsOver, deploymentsOver } from '../../../src/deployment/index.ts'
import type { Deployment, Deployments, DeploymentsLimits,
  Revision } from '../../../src/deployment/index.ts'
import { secretsOver } from '../../../src/platform/index.ts'
import { virtualEnv } from '../../support/env.ts'
import { memoryCatalogs } from '../../support/memory-catalogs.ts'
import { memoryDocuments } from '../../support/memory-documents.ts'
import { manifestOf, sha256, textsOf } from '../../support/project-manifest.ts'
import type { MadeProject } from '../../support/project-manifest.ts'

/** What happens to the calls of a caller, by their number from 1. */
type Fault = (call: number) => 'done' | 'lost before' | 'lost after' | Promise<unknown>

/** A caller is dead: all that it does fails. */
export class Dead extends Error {}

/** The stored records of a cluster. */
export class RecordsHouse {
  readonly env = virtualEnv()
  readonly catalogs = memoryCatalogs(this.env)
  readonly documents = memoryDocuments()
  readonly limits: Partial<DeploymentsLimits>
  readonly key = Buffer.alloc(32, 7)
  /** Ids of deployments of which events were noted. */
  readonly noted: string[] = []
  readonly deployments: Deployments

  constructor(limits: Partial<DeploymentsLimits> = {}) {
    this.limits = limits
    this.deployments = this.caller(() => 'done')
  }

  /** Another member, with what it does to its own calls. */
  caller(fault: Fault): Deployments {
    const { env, limits } = this
    let calls = 0
    let isDead = false
    const through = <Port extends object>(port: Port): Port =>
      new Proxy(port, { get: (target, name) => {
        const call = target[name as keyof Port] as (...args: unknown[]) => Promise<unknown>
        return async (...args: unknown[]) => {
          const fate = isDead ? 'lost before' : await fault(++calls)
          if (fate === 'lost before') isDead = true
          if (isDead) throw new Dead()
          const reply = await call(...args)
          if (fate === 'lost after') isDead = true
          if (isDead) throw new Dead()
          return reply
        }
      } })
    const catalogs = through(this.catalogs)
    return deploymentsOver({ catalogs, documents: through(this.documents), env, limits,
      noted: (id) => this.noted.push(id),
      secrets: deploymentSecretsOver(secretsOver(catalogs, () => [this.key], env), env) })
  }

  secrets() {
    return deploymentSecretsOver(secretsOver(this.catalogs, () => [this.key], this.env), this.env)
  }

  async create(name = 'shop', tenant = 'acme'): Promise<Deployment> {
    return await this.deployments.create({ name, tenant })
  }

  begin(deployment: Deployment, project: MadeProject, deployments = this.deployments) {
    return deployments.beginRevision(deployment, { manifest: manifestOf(project), message: '',
      by: 'ann' })
  }

  /** Begins a revision, and uploads what is missing. */
  async deploy(deployment: Deployment, project: MadeProject): Promise<Revision> {
    const { revision, missing } = await this.begin(deployment, project)
    await this.upload(revision, project, missing)
    return await this.deployments.changeRevision(revision, { state: 'ready', expiresAtMs: null })
  }

  async upload(revision: Revision, project: MadeProject, missing: readonly string[],
    deployments = this.deployments): Promise<void> {
    for (const text of textsOf(project).filter((each) => missing.includes(sha256(each)))) {
      await deployments.putChunk(revision, sha256(text), Buffer.from(text))
    }
  }

  /** The texts of the project's chunks that can be read. */
  async readable({ id }: Deployment, project: MadeProject): Promise<readonly string[]> {
    const read = this.deployments.readChunks(id)
    const texts = textsOf(project).map(async (text) =>
      (await read(sha256(text)).catch(() => undefined))?.toString()
    )
    return (await Promise.all(texts)).filter((each) => each !== undefined)
  }

  /** Records and documents that are left of anything. */
  async left(deployment: Deployment): Promise<number> {
    const tenant = '@'
    let count = 0
    for (const collection of ['deployment', 'revision', 'deployment_event'] as const) {
      const { records } = await this.catalogs.list({ tenant, collection }, { sortBy: 'name',
        descending: false, limit: 100, offset: 0 })
      // The name of a removed deployment stays its tenant's for a while.
      count += records.filter(({ name }) => !name.startsWith('removed ')).length
    }
    for (const kind of ['revision_chunk', 'revision_manifest', 'deployment_event'] as const) {
      const found = await this.documents.listDocuments({ tenant, kind, owner: deployment.id }, {
        limit: 1_000,
      })
      count += found.length
    }
    return count + (await this.secrets().list(deployment.id)).length
  }
}
