"""Objects are stored in a database and deleted."""
from sqlalchemy import Column, Integer, String, create_engine
from sqlalchemy.orm import Session, declarative_base

from loop import turns

Base = declarative_base()


class Job(Base):
    __tablename__ = "jobs"
    id = Column(Integer, primary_key=True)
    name = Column(String)


engine = create_engine("sqlite://")
Base.metadata.create_all(engine)
for turn in turns(60):
    with Session(engine) as session:
        session.add_all([Job(name="job %d" % n) for n in range(10)])
        session.commit()
        for job in session.query(Job).filter(Job.name != "job 3"):
            session.delete(job)
        session.commit()
        session.query(Job).delete()
        session.commit()
