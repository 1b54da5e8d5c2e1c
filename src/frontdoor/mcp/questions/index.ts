/** Questions of graphs, as the Model Context Protocol asks them. */

export { answerIn, elicitationOf, questionsOf } from './question.ts'
export type { Question } from './question.ts'
