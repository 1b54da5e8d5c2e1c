/** A graph that makes the calls of its input, and whose recordings the project redacts itself. */

export { caller } from '../recorded/caller.ts'
