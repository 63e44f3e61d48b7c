export const add = (left, right) => left - right;
