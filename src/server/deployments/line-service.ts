/** The lines of a deployment on all members: each is asked for those that it has. */

import type { Service } from '../../../cluster/index.ts'
import type { DeploymentLine, DeploymentLogs, LineQuery, Serving } from '../../deployment/index.ts'
import { deploymentQuestions, deploymentWire } from '../backends/deployment-wires.ts'
import { askMembers } from '../member-questions.ts'
import type { MemberQuestionParts } from '../member-questions.ts'

/** Question to every member for its lines. */
interface LineQuestion {
  readonly deployment: string
  readonly query: Omit<LineQuery, 'after'>
  /** The number of the last line that was seen, by member. */
  readonly after: Readonly<Record<string, number>>
}

/** Answers with the lines that this member has. */
export function lineService(
  lines: Serving['lines'],
  self: string,
): Service<LineQuestion, readonly DeploymentLine[]> {
  return {
    name: deploymentQuestions.lines,
    wire: deploymentWire,
    answer: async ({ deployment, query: { sinceMs, ...query }, after }) => {
      const seen = after[self]
      // After a line that was seen, all others are new.
      return await lines(deployment, { ...query,
        ...seen === undefined ? sinceMs !== undefined && { sinceMs } : { after: seen } })
    },
  }
}

/** The logs of deployments, from all members. */
export function mergedLogs(parts: MemberQuestionParts,
  service: ReturnType<typeof lineService>): DeploymentLogs {
  return {
    lines: async (deployment, { after = new Map(), ...query }) => {
      const question = { deployment, query, after: Object.fromEntries(after) }
      const answers = await askMembers(parts, service, question)
      return answers.flat()
        .toSorted((one, other) => one.atMs - other.atMs || one.seq - other.seq)
        .slice(-query.limit)
    },
  }
}
