/** Services of members for a roll-out, and the members as a roll-out calls them. */

import { actorKeyText, shardOf } from '../../../cluster/index.ts'
import type { ActorKey, Member, Service } from '../../../cluster/index.ts'
import { deploymentsTenant } from '../../deployment/index.ts'
import type { Prepared, PrepareRequest, RevisionTally, RolloutMembers,
  Serving } from '../../deployment/index.ts'
import { HeddleError } from '../../errors.ts'
import { catalogKindName } from '../../platform/index.ts'
import type { Backend } from '../backends/backend.ts'
import { deploymentQuestions, deploymentWire } from '../backends/deployment-wires.ts'

const { prepare: prepareName, prepareWith: prepareWithName, learn: learnName, tally: tallyName,
  look: lookName } = deploymentQuestions
const wire = deploymentWire

/** Parts of this member that answer. */
export interface RolloutServiceParts {
  readonly serving: Pick<Serving, 'prepare' | 'learn' | 'tally'>
  /** Looks at the roll-out of a deployment, if this member drives them. */
  look(deployment: string): void
}

/** The services that other members may ask. */
export function rolloutServices({ serving, look }: RolloutServiceParts): readonly Service[] {
  return [
    { name: prepareName, wire, answer: (options: PrepareRequest) => serving.prepare(options) },
    { name: prepareWithName, wire, answer: (options: PrepareRequest) => serving.prepare(options) },
    { name: learnName, wire, answer: async (name: string) => {
      await serving.learn(name)
      return null
    } },
    { name: tallyName, wire, answer: async (options: PrepareRequest) => serving.tally(options) },
    { name: lookName, wire, answer: async (name: string) => {
      look(name)
      return null
    } },
  ]
}

/** Parts with which members are found and asked. */
export interface RolloutMembersParts extends RolloutServiceParts {
  readonly backend: Pick<Backend, 'status' | 'askMember' | 'ownership'>
}

/** The actor that has the records of all deployments. Its owner drives roll-outs. */
export const deploymentsKey: ActorKey = { kind: catalogKindName, tenant: deploymentsTenant,
  id: 'deployment' }

/** The members of this cluster. Calls of this member to itself use no transport. */
export function rolloutMembers(parts: RolloutMembersParts): RolloutMembers {
  const { backend } = parts
  const own = new Map(rolloutServices(parts).map(({ name, answer }) => [name, answer]))
  const ask = async (member: Member, name: string, question: unknown) => {
    if (member.id === backend.status().member.id) return await own.get(name)!(question)
    return await backend.askMember(member, name, question).catch(olderProgram)
  }
  const askById = async (id: string, name: string, question: unknown) => {
    const member = backend.status().view.find((one) => one.id === id)
    if (member === undefined) throw new HeddleError('unavailable', 'This member has left.')
    return await ask(member, name, question)
  }
  return {
    live: () => backend.status().view.map(({ id }) => id),
    // An older program would load the secrets of now, and call that well.
    prepare: async (member, options) =>
      await askById(member, options.secrets === undefined ? prepareName : prepareWithName,
        options) as Prepared,
    learn: async (member, deployment) => {
      await askById(member, learnName, deployment)
    },
    tally: async (member, options) => await askById(member, tallyName, options) as RevisionTally,
    wake: async (deployment) => {
      const { ownership } = backend
      const owner = ownership.ownerOf(shardOf(actorKeyText(deploymentsKey), ownership.shards))
      if (owner === undefined) throw new HeddleError('unavailable')
      await ask(owner.member, lookName, deployment)
    },
  }
}

/** A member that does not know the question answers with an error of its own. */
function olderProgram(error: unknown): never {
  if (HeddleError.from(error).code !== 'internal') throw error
  throw new HeddleError('unavailable',
    'It could not answer: it may run an older program, which has no deployments. See its log.', {},
    { cause: error })
}
