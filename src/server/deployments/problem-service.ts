/** Collects the revisions that members cannot load: each member reports those that it has tried. */

import type { Service } from '../../../cluster/index.ts'
import type { Serving } from '../../deployment/index.ts'
import type { MemberProblem } from '../../frontdoor/index.ts'
import { deploymentQuestions, deploymentWire } from '../backends/deployment-wires.ts'

/** Answers with the revisions that this member could not load. */
export function problemService(problems: Serving['problems'],
  self: () => string): Service<null, readonly MemberProblem[]> {
  return { name: deploymentQuestions.problems, wire: deploymentWire,
    answer: async () => problems().map((problem) => ({ ...problem, member: self() })) }
}
