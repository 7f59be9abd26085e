"""The lab's pages: somebody gives a HAR file, and sees its page replayed over the Linux TCP
stack at several initial windows."""
