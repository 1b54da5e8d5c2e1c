/**
 * Asks the next host what one host could not answer, if the statement may be executed twice. A host
 * that has just come back may believe that all others are down, and refuse at once what they would
 * answer.
 */

import { errors, policies } from 'cassandra-driver'
import type { ExecutionOptions, types } from 'cassandra-driver'

interface Operation {
  readonly executionOptions: Pick<ExecutionOptions, 'isIdempotent'>
  /** Number of hosts that were asked before this one. */
  readonly nbRetry: number
}

/** Further hosts that are asked at most: each row is on three. */
const furtherHosts = 2

/** A retry policy of the driver, with one method for each way in which a host fails. */
export class RetryNextHost extends policies.retry.RetryPolicy {
  override onUnavailable(operation: Operation, consistency: types.consistencies) {
    return this.#next(operation, consistency)
  }

  override onReadTimeout(operation: Operation, consistency: types.consistencies) {
    return this.#next(operation, consistency)
  }

  override onWriteTimeout() {
    return this.rethrowResult()
  }

  /** Gives up: the caller has waited long enough and decides what to do next. */
  override onRequestError(operation: Operation, consistency: types.consistencies, error: Error) {
    return error instanceof errors.OperationTimedOutError
      ? this.rethrowResult()
      : this.#next(operation, consistency)
  }

  #next({ executionOptions, nbRetry }: Operation, consistency: types.consistencies) {
    return executionOptions.isIdempotent() && nbRetry < furtherHosts
      ? this.retryResult(consistency, false)
      : this.rethrowResult()
  }
}
