/** Questions to all members that this one sees, itself included. */

import { atLatest } from '../../cluster/index.ts'
import type { Env, Member, Service } from '../../cluster/index.ts'
import type { Backend } from './backends/backend.ts'

/** The way to the members. */
export interface MemberQuestionParts {
  readonly env: Pick<Env, 'after'>
  readonly backend: Pick<Backend, 'status' | 'askMember'>
}

/** A member that takes longer is left out. */
const answerMs = 500

/** All members, this one first. */
export function allMembers({ backend }: Pick<MemberQuestionParts, 'backend'>): readonly Member[] {
  const { member: self, view } = backend.status()
  return [self, ...view.filter(({ id }) => id !== self.id)]
}

/** Asks one member. This one answers by itself. Throws if the member does not answer. */
export async function askMember<Question, Answer>({ backend }: MemberQuestionParts,
  service: Service<Question, Answer>, member: Member, question: Question,
  cancelled?: AbortSignal): Promise<Answer> {
  if (member.id === backend.status().member.id) return await service.answer(question, cancelled)
  return await backend.askMember(member, service.name, question, cancelled) as Answer
}

/** The answers of all that answer in time. */
export async function askMembers<Question, Answer>(parts: MemberQuestionParts,
  service: Service<Question, Answer>, question: Question): Promise<readonly Answer[]> {
  const answers = await Promise.all(allMembers(parts).map(async (member) => {
    const asked = askMember(parts, service, member, question).catch(() => undefined)
    return await atLatest(parts.env, answerMs, asked)
  }))
  return answers.filter((answer) => answer !== undefined)
}
