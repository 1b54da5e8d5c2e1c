/**
 * Chooses the member that builds: the one that is asked if it builds, or else the next one that
 * does.
 */

import type { Service } from '../../../cluster/index.ts'
import type { Builder, BuildMembers } from '../../deployment/index.ts'
import { HeddleError } from '../../errors.ts'
import { deploymentQuestions, deploymentWire } from '../backends/deployment-wires.ts'
import { allMembers, askMember } from '../member-questions.ts'
import type { MemberQuestionParts } from '../member-questions.ts'

/** Answers whether this member has taken a build, or with null would take one. */
export function buildService(builder: Pick<Builder, 'take'>): Service<string | null, boolean> {
  return { name: deploymentQuestions.build, wire: deploymentWire,
    answer: (build) => builder.take(build) }
}

/** Asks this member and then the others, one after another. */
export function buildMembers(parts: MemberQuestionParts,
  service: ReturnType<typeof buildService>): BuildMembers {
  return {
    take: async (build) => {
      for (const member of allMembers(parts)) {
        const isTaken = await askMember(parts, service, member, build).catch(unlessNotAsked)
        if (isTaken) return true
      }
      return false
    },
  }
}

/** Treats an error as a refusal: a member that is away or runs an older program takes no build. */
function unlessNotAsked(error: unknown): false {
  const { code } = HeddleError.from(error)
  if (code === 'unavailable' || code === 'internal') return false
  throw error
}
